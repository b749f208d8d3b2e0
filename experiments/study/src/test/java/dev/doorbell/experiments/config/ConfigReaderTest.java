package dev.doorbell.experiments.config;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.experiments.config.value.Axis;
import dev.doorbell.experiments.config.value.Value;
import dev.doorbell.experiments.plan.Plan;
import dev.doorbell.experiments.plan.Point;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ConfigReaderTest {
  @Test
  void what_is_not_said_has_its_default() {
    ExperimentConfig config = Configs.read(Configs.SMALL);
    assertThat(config.seed()).isEqualTo(42);
    assertThat(config.gpu()).isEqualTo("auto");
    assertThat(config.fixed()).containsEntry("mtu", new Value.Whole(4096));
    assertThat(config.fixed()).containsEntry("relaxed", new Value.Flag(false));
    assertThat(config.fixed()).doesNotContainKeys("path", "size");
    assertThat(config.measure().warmup()).isEqualTo(2);
    assertThat(config.measure().timeout()).isEqualTo(Duration.ofSeconds(10));
  }

  @Test
  void the_resolved_experiment_reads_back_as_itself() {
    ExperimentConfig config = Configs.read(Configs.SMALL, "size=pow2(8,1M)", "mtu=1024,2048");
    ExperimentConfig again = Configs.read(config.resolved());
    assertThat(again.resolved()).isEqualTo(config.resolved());
    assertThat(again.hash()).isEqualTo(config.hash());
    assertThat(again.axes()).isEqualTo(config.axes());
    assertThat(again.exclude()).isEqualTo(config.exclude());
  }

  @Test
  void the_hash_tells_experiments_apart() {
    String hash = Configs.read(Configs.SMALL).hash();
    assertThat(Configs.read("# another comment\n" + Configs.SMALL).hash()).isEqualTo(hash);
    assertThat(Configs.read(Configs.SMALL, "seed=43").hash()).isNotEqualTo(hash);
    assertThat(Configs.read(Configs.SMALL, "window=8").hash()).isNotEqualTo(hash);
  }

  @Test
  void an_override_of_an_axis_replaces_its_values() {
    ExperimentConfig config = Configs.read(Configs.SMALL, "size=8,4K,1M");
    assertThat(config.axes().get(1).values())
        .containsExactly(new Value.Whole(8), new Value.Whole(4096), new Value.Whole(1 << 20));
  }

  @Test
  void a_sweep_over_a_fixed_setting_becomes_the_last_axis() {
    ExperimentConfig config = Configs.read(Configs.SMALL, "qps=range(1,3)");
    assertThat(config.axes()).extracting(Axis::name).containsExactly("path", "size", "qps");
    assertThat(config.fixed()).doesNotContainKey("qps");
  }

  @Test
  void a_topology_beside_the_experiment_is_found_wherever_it_is_spoken_of(@TempDir Path folder)
      throws IOException, ConfigException {
    Path topology = Files.writeString(folder.resolve("mine.yaml"), "name: mine\n");
    String text =
        Configs.SMALL
            .replace("axes:\n", "axes:\n  placement: [same-switch, mine.yaml]\n")
            .replace("path: push.inline,", "placement: mine.yaml,");
    ExperimentConfig config =
        new ConfigReader(Configs.WORDS)
            .read(folder.resolve("small.yaml").toString(), text, List.of());
    assertThat(config.axes().getFirst().values())
        .containsExactly(new Value.Text("same-switch"), new Value.Text(topology.toString()));
    assertThat(config.exclude().getFirst())
        .anyMatch(
            condition -> condition.holds(Map.of("placement", new Value.Text(topology.toString()))));
    assertThat(Configs.problems(text)).allMatch(problem -> problem.contains("cannot be read"));
  }

  @Test
  void fewer_metrics_ask_for_fewer_figures_and_crossovers() {
    assertThat(Configs.read(Configs.SMALL).figures()).isNotEmpty();
    ExperimentConfig config = Configs.read(Configs.SMALL, "metrics=goodput");
    assertThat(config.measure().metrics()).containsExactly("goodput");
    assertThat(config.figures()).isEmpty();
    assertThat(config.contrasts()).isEmpty();
    assertThat(Configs.read(Configs.SMALL, "metrics=latency,goodput").figures()).hasSize(1);
  }

  @Test
  void overrides_reach_every_part_of_a_config() {
    ExperimentConfig config =
        Configs.read(
            Configs.SMALL,
            "seed=7",
            "samples=3",
            "measure.warmup=0",
            "fixed.window=4",
            "axes.size=[8]",
            "kernel=put_latency,put_bandwidth",
            "relaxed=true");
    assertThat(config.seed()).isEqualTo(7);
    assertThat(config.measure().samples()).isEqualTo(3);
    assertThat(config.measure().warmup()).isZero();
    assertThat(config.fixed()).containsEntry("window", new Value.Whole(4));
    assertThat(config.fixed()).containsEntry("relaxed", new Value.Flag(true));
    assertThat(config.axes().get(1).values()).containsExactly(new Value.Whole(8));
    assertThat(config.kernels()).containsExactly("put_latency", "put_bandwidth");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "size;-s size  DB-C040  an override is key=value, such as -s size=64,4K",
        "size=;-s size=  DB-C040  an override is key=value, such as -s size=64,4K",
        "sise=8;-s sise=8  DB-C010  unknown setting 'sise'  - did you mean 'size'?",
        "path=puhs;-s path=puhs  DB-C012  unknown path 'puhs'  - did you mean 'push.inline',"
            + " 'push.bf', 'push.memic'?",
        "size=8,x;-s size=8,x  DB-C015  size is 'x', and must be a size such as 64, 4K or 1M",
        "size=2G;-s size=2G  DB-C014  size 2147483648 is out of range (at least 1, at most"
            + " 1073741824)",
        "size=8,8;-s size=8,8  DB-C016  axis size has 8 twice",
        "mtu=9000;-s mtu=9000  DB-C020  mtu 9000 is not an RDMA MTU (256 512 1024 2048 4096)",
        "depth=100;-s depth=100  DB-C014  depth 100 is not a power of two",
        "placement=same-swich;-s placement=same-swich  DB-C012  unknown placement 'same-swich'  -"
            + " did you mean 'same-switch'?",
        "placement=no.yaml;-s placement=no.yaml  DB-C001  topology file no.yaml cannot be read,"
            + " neither from here nor from the experiment's folder",
        "seed=-1;-s seed=-1  DB-C014  seed -1 is out of range (at least 0)",
      })
  void an_override_that_is_wrong_is_the_place_of_its_problem(String override, String problem) {
    assertThat(Configs.problems(Configs.SMALL, override)).containsExactly(problem);
  }

  @Test
  void a_key_is_overridden_once() {
    assertThat(Configs.problems(Configs.SMALL, "size=8", "size=64"))
        .singleElement()
        .asString()
        .startsWith("-s size=64  DB-C016  'size' is given twice");
  }

  @Test
  void problems_of_every_part_are_told_at_once_in_the_order_of_the_file() {
    List<String> problems =
        Configs.problems(
            """
            experiment: small
            kernel: put_latncy
            sead: 3
            axes:
              path: [pull, puhs]
              size: pow2(1M,8)
              sizes: [8]
            fixed:
              size: 64
              mtu: 9000
            measure:
              metrics: [latency, latencey]
              samples: 0
            outputs:
              figures:
                - { name: a, x: sise, y: tlp.bytes }
            """);
    assertThat(problems)
        .containsExactly(
            "small.yaml:1:1  DB-C011  key 'question' is missing\n  fix     question: What the"
                + " experiment asks, in one sentence.",
            "small.yaml:2:9  DB-C012  unknown kernel 'put_latncy'  - did you mean 'put_latency'?",
            "small.yaml:3:1  DB-C010  unknown key 'sead'  - did you mean 'seed'?",
            "small.yaml:5:16  DB-C012  unknown path 'puhs'  - did you mean 'push.inline',"
                + " 'push.bf', 'push.memic'?",
            "small.yaml:6:9  DB-C015  pow2(1M,8) starts after its end",
            "small.yaml:7:3  DB-C010  unknown key 'sizes' in axes  - did you mean 'size'?",
            "small.yaml:9:3  DB-C031  'size' is both an axis (small.yaml:6:3) and fixed",
            "small.yaml:10:8  DB-C020  mtu 9000 is not an RDMA MTU (256 512 1024 2048 4096)",
            "small.yaml:12:22  DB-C012  unknown metric 'latencey'  - did you mean 'latency'?",
            "small.yaml:13:12  DB-C014  samples 0 is out of range (at least 1, at most 10000000)",
            "small.yaml:16:21  DB-C012  unknown axis 'sise'  - did you mean 'size'?",
            "small.yaml:16:30  DB-C033  tlp.bytes is not among measure.metrics");
  }

  @Test
  void a_key_in_the_wrong_section_is_told_the_right_one_and_a_missing_one_what_it_is_for() {
    assertThat(
            Configs.problems(
                """
                experiment: small
                placement: same-switch
                axes: {path: [pull]}
                fixed: {gpu: vm, samples: 3}
                measure: {metrics: [latency]}
                """))
        .anySatisfy(
            text ->
                assertThat(text)
                    .contains("unknown key 'placement'")
                    .endsWith("fix     'placement' belongs below 'axes' or 'fixed'"))
        .anySatisfy(
            text ->
                assertThat(text)
                    .contains("unknown key 'gpu' in fixed")
                    .endsWith("'gpu' stands at the top of the file, not below another key"))
        .anySatisfy(text -> assertThat(text).endsWith("'samples' belongs below 'measure'"))
        .anySatisfy(text -> assertThat(text).contains("'kernel' is missing\n  fix     kernel: "));
  }

  @Test
  void kernels_that_measure_the_same_are_an_axis() {
    String text =
        """
        experiment: small
        question: q?
        axes: {size: [64], kernel: [put_latency, put_bandwidth]}
        exclude: [{kernel: put_bandwidth, size: 64}]
        measure: {metrics: [latency]}
        """;
    ExperimentConfig config = Configs.read(text, "size=64,128");
    assertThat(config.kernels()).containsExactly("put_latency", "put_bandwidth");
    assertThat(Plan.of(config).points())
        .extracting(Point::kernels)
        .containsExactly(List.of("put_latency"), List.of("put_latency"), List.of("put_bandwidth"));
    assertThat(Configs.read(config.resolved()).hash()).isEqualTo(config.hash());
    assertThat(Configs.read(text, "kernel=put_bandwidth").kernels())
        .containsExactly("put_bandwidth");
    assertThat(Configs.read(Configs.SMALL, "axes.kernel=put_bandwidth,put_latency").axes())
        .last()
        .isEqualTo(
            new Axis(
                "kernel",
                "",
                List.of(new Value.Text("put_bandwidth"), new Value.Text("put_latency"))));
    assertThat(Configs.problems("kernel: put_bandwidth\n" + text))
        .singleElement()
        .asString()
        .contains("DB-C031", "'kernel' is both an axis and at the top of the file");
    assertThat(Configs.problems(text.replace("put_bandwidth]", "put_bandwit]")))
        .anySatisfy(problem -> assertThat(problem).contains("unknown kernel 'put_bandwit'"));
  }

  @Test
  void a_misspelt_key_is_one_problem_and_a_span_of_numbers_says_how_to_list_them() {
    assertThat(Configs.problems(Configs.SMALL.replace("kernel:", "kernal:")))
        .singleElement()
        .asString()
        .contains("unknown key 'kernal'", "did you mean 'kernel'");
    assertThat(Configs.problems(Configs.SMALL.replace("size: [64, 4K]", "size: 64..64K")))
        .singleElement()
        .asString()
        .contains("pow2(64,64K)");
    assertThat(Configs.problems(Configs.SMALL, "rest=5ms"))
        .singleElement()
        .asString()
        .contains("a whole number of ns");
  }

  @Test
  void a_plan_of_a_million_points_is_refused_before_it_is_made() {
    assertThat(Configs.problems(Configs.SMALL, "size=range(1,9999)", "qps=range(1,1000)"))
        .singleElement()
        .asString()
        .contains("DB-C034  the axes span more than 100,000 points", "-s qps=1");
  }

  @Test
  void no_mutation_of_a_config_is_answered_with_anything_but_problems() {
    for (long seed = 0; seed < 1500; seed++) {
      String text = mutate(Configs.SMALL, new Random(seed));
      try {
        List<String> problems = Configs.problems(text);
        assertThat(problems).allMatch(problem -> problem.contains("DB-C0"));
      } catch (RuntimeException e) {
        throw new AssertionError("seed %d, text%n%s".formatted(seed, text), e);
      }
    }
  }

  private static String mutate(String text, Random random) {
    StringBuilder mutated = new StringBuilder(text);
    String pieces = ":-[]{}#&*!|>'\"%@`,? \n\t0aZ~.";
    int edits = 1 + random.nextInt(4);
    for (int i = 0; i < edits; i++) {
      int at = random.nextInt(mutated.length());
      switch (random.nextInt(4)) {
        case 0 -> mutated.deleteCharAt(at);
        case 1 -> mutated.insert(at, pieces.charAt(random.nextInt(pieces.length())));
        case 2 -> mutated.setCharAt(at, pieces.charAt(random.nextInt(pieces.length())));
        default -> mutated.setLength(Math.max(1, at));
      }
    }
    return mutated.toString();
  }
}
