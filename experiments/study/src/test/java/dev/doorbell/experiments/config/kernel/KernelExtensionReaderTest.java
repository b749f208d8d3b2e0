package dev.doorbell.experiments.config.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.config.ConfigReader;
import dev.doorbell.experiments.config.ExperimentConfig;
import dev.doorbell.experiments.config.kernel.KernelExtension.KernelMetric;
import dev.doorbell.experiments.config.kernel.KernelExtension.KernelVerification;
import dev.doorbell.experiments.config.schema.Schema;
import dev.doorbell.experiments.config.schema.Vocabulary;
import dev.doorbell.experiments.config.value.Axis;
import dev.doorbell.experiments.config.value.Value;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Settings, metrics and buffers that a descriptor brings, and experiments that use them. */
class KernelExtensionReaderTest {
  private static final String OWN =
      """
      kernel: my_sum
      description: a sum of mine
      launch: { ranks: all }
      parameters: [queue_pairs, job, pieces, input, output, waiting]
      measures: latency
      settings:
        pieces: { type: u32, default: 2, range: [0, 64] }
        share: { type: f64, default: 0.5, range: [0, 1], unit: W }
      metrics:
        waiting: { type: u64, unit: W, better: higher }
      buffers:
        input: { type: f32, count: size / 4, fill: random(i) % 100 }
        output: { type: f32, count: size / 4 }
      verify: { reduce: sum, of: input, in: output }
      """;

  private static final String EXPERIMENT =
      """
      experiment: e
      question: q?
      kernel: my_sum
      axes: { pieces: [0, 4], share: [0.25, 1] }
      measure: { metrics: [latency, waiting] }
      outputs:
        figures:
          - { name: f, x: share, y: waiting }
      """;

  private static KernelDescriptor read(String text) throws ConfigException {
    return new KernelDescriptorReader().read("my.kernel.yaml", text);
  }

  private static List<String> problems(String text) {
    return catchThrowableOfType(ConfigException.class, () -> read(text)).problems().stream()
        .map(problem -> problem.where() + " " + problem.what())
        .toList();
  }

  private static ConfigReader reader() throws ConfigException {
    return new ConfigReader(Vocabulary.anything(), Map.of("my_sum", read(OWN).extension()));
  }

  private static List<String> configProblems(String text, String... overrides) {
    return catchThrowableOfType(
            ConfigException.class, () -> reader().read("e.yaml", text, List.of(overrides)))
        .problems()
        .stream()
        .map(Problem::text)
        .toList();
  }

  @Test
  void a_reduction_is_a_formula_with_a_name() throws ConfigException {
    KernelDescriptor kernel = read(OWN);
    assertThat(kernel.verify()).isEqualTo(KernelDescriptor.Verify.OWN);
    assertThat(kernel.extension().verification().orElseThrow())
        .isInstanceOfSatisfying(
            KernelVerification.Expected.class,
            expected ->
                assertThat(expected.expected().get("output"))
                    .hasToString("sum(p, ranks, input(p, i))"));
  }

  @Test
  void names_and_formulas_that_mean_nothing_are_told_with_their_places() {
    assertThat(problems(OWN.replace("pieces, input", "peices, input")))
        .containsExactly(
            "my.kernel.yaml:4:32 unknown parameter 'peices'  - did you mean 'pieces'?");
    assertThat(problems(OWN.replace("share:", "size:")))
        .containsExactly("my.kernel.yaml:8:9 'size' is a setting of all experiments");
    assertThat(problems(OWN.replace("share:", "launches:")))
        .containsExactly("my.kernel.yaml:8:13 'launches' is a key of measure");
    assertThat(problems(OWN.replace("share:", "value:")))
        .containsExactly("my.kernel.yaml:8:10 'value' is a column of all tables of samples");
    assertThat(problems(OWN.replace("share:", "window:")))
        .hasSize(1)
        .allSatisfy(text -> assertThat(text).contains("'window' is"));
    assertThat(problems(OWN.replace("fill: random(i)", "fill: rnadom(i)")).getFirst())
        .startsWith("my.kernel.yaml:12:46 'rnadom' names no function or buffer");
    assertThat(problems(OWN.replace("count: size / 4 }", "count: i }")))
        .hasSize(1)
        .allSatisfy(text -> assertThat(text).contains("13:31 'i' names no number"));
    assertThat(problems(OWN.replace("default: 2,", "default: 65,")))
        .containsExactly("my.kernel.yaml:7:33 the default 65 lies outside of the range");
    assertThat(problems(OWN.replace("in: output", "in: outptu")).getFirst())
        .contains("14:39 unknown buffer 'outptu'");
    assertThat(problems(OWN.replace("reduce: sum, of: input, in: output", "entry: look")))
        .containsExactly(
            "my.kernel.yaml:14:9 the entry gets no status words, so that nobody learns what it"
                + " found");
    assertThat(problems(OWN.replace(", waiting]", "]")))
        .containsExactly("my.kernel.yaml:10:12 'waiting' is no parameter of the kernel");
  }

  @Test
  void an_experiment_sweeps_settings_of_its_kernel_and_asks_for_its_metrics()
      throws ConfigException {
    ExperimentConfig config = reader().read("e.yaml", EXPERIMENT, List.of("pieces=pow2(1,4)"));
    assertThat(config.axes())
        .containsExactly(
            new Axis(
                "pieces", "", List.of(new Value.Whole(1), new Value.Whole(2), new Value.Whole(4))),
            new Axis("share", "W", List.of(new Value.Real(0.25), new Value.Whole(1))));
    assertThat(config.brought()).containsOnlyKeys("waiting");
    assertThat(KernelMetric.higherIsBetter(config.brought(), "waiting", "W")).isTrue();
    assertThat(reader().read("e.yaml", config.resolved(), List.of()).hash())
        .isEqualTo(config.hash());
    assertThat(
            reader()
                .read("e.yaml", EXPERIMENT.replace("pieces: [0, 4], ", ""), List.of())
                .fixed()
                .get("pieces"))
        .isEqualTo(new Value.Whole(2));
  }

  @Test
  void values_out_of_range_are_refused_and_other_experiments_have_no_such_setting()
      throws ConfigException {
    assertThat(configProblems(EXPERIMENT, "pieces=65"))
        .singleElement()
        .asString()
        .contains("DB-C014  pieces 65 is out of range");
    assertThat(configProblems(EXPERIMENT, "share=1.5").getFirst())
        .contains("DB-C014  share 1.5 is out of range");
    assertThat(configProblems(EXPERIMENT, "kernel=put_latency").getFirst())
        .contains("DB-C010  unknown key 'pieces'");
    String other =
        """
        experiment: e
        question: q?
        kernel: put_latency
        axes: { size: [64] }
        measure: { metrics: [latency] }
        """;
    assertThat(reader().read("e.yaml", other, List.of()).hash())
        .isEqualTo(new ConfigReader(Vocabulary.anything()).read("e.yaml", other, List.of()).hash());
  }

  @Test
  void names_that_begin_with_my_are_left_to_users() {
    Schema schema = Schema.experiment();
    assertThat(
            Stream.of(
                    schema.settings().keySet(),
                    schema.metrics().keySet(),
                    schema.measureKeys(),
                    schema.topLevel())
                .flatMap(Collection::stream))
        .isNotEmpty()
        .noneMatch(name -> name.startsWith("my_"));
  }
}
