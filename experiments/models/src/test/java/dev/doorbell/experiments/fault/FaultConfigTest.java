package dev.doorbell.experiments.fault;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.fault.FaultAction;
import dev.doorbell.core.fault.FaultPlan;
import dev.doorbell.experiments.config.ConfigReader;
import dev.doorbell.experiments.config.Configs;
import dev.doorbell.experiments.config.ExperimentConfig;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Faults in experiment files. */
class FaultConfigTest {
  private static final String LIST =
      Configs.SMALL
          + """
          faults:
            - { do: lose, chance: 1% }
            - { do: cqe-error, at: wqe 3, syndrome: 0x15, must_fire: true }
          """;

  @TempDir private Path folder;

  private static JsonNode schema(String name) throws IOException {
    String resource = "/dev/doorbell/experiments/schema/" + name + ".schema.json";
    try (InputStream in = FaultConfigTest.class.getResourceAsStream(resource)) {
      return JsonMapper.shared().readTree(in);
    }
  }

  @Test
  void a_list_of_faults_takes_the_seed_of_the_experiment() {
    FaultPlan plan = Configs.read(LIST, "seed=9").faults();
    assertThat(plan.seed()).isEqualTo(9);
    assertThat(plan.faults())
        .extracting(f -> f.action().word())
        .containsExactly("lose", "cqe-error");
    assertThat(plan.faults().get(1).number()).isEqualTo(0x15);
  }

  @Test
  void without_faults_nothing_goes_wrong_and_the_config_is_as_before() {
    ExperimentConfig config = Configs.read(Configs.SMALL);
    assertThat(config.faults()).isEqualTo(FaultPlan.NONE);
    assertThat(config.resolved()).doesNotContain("faults");
    assertThat(Configs.read(LIST).hash()).isNotEqualTo(config.hash());
  }

  @Test
  void a_file_is_found_beside_the_experiment_and_becomes_a_part_of_it() throws Exception {
    Files.writeString(
        folder.resolve("plan.yaml"), "seed: 5\nfaults: [ { do: delay, at: packet 2, for: 2us } ]");
    String experiment = folder.resolve("small.yaml").toString();
    ExperimentConfig config =
        new ConfigReader(Configs.WORDS)
            .read(experiment, Configs.SMALL + "faults: plan.yaml\n", List.of());
    assertThat(config.faults().seed()).isEqualTo(5);
    assertThat(config.faults().faults().getFirst().nanos()).isEqualTo(2_000);
    ExperimentConfig again =
        new ConfigReader(Configs.WORDS).read("elsewhere.yaml", config.resolved(), List.of());
    assertThat(again.faults()).isEqualTo(config.faults());
    assertThat(again.hash()).isEqualTo(config.hash());
  }

  @Test
  void the_command_line_may_bring_a_file_or_a_fault() throws IOException {
    Path plan = folder.resolve("other.yaml");
    Files.writeString(plan, "faults: [ { do: corrupt } ]");
    assertThat(Configs.read(LIST, "faults=" + plan).faults().faults())
        .singleElement()
        .satisfies(fault -> assertThat(fault.action()).isEqualTo(FaultAction.CORRUPT));
    assertThat(Configs.read(LIST, "faults=[{do: duplicate}]").faults().faults())
        .singleElement()
        .satisfies(fault -> assertThat(fault.action()).isEqualTo(FaultAction.DUPLICATE));
  }

  @Test
  void what_is_wrong_with_a_fault_is_said_with_its_line() {
    int lines = (int) Configs.SMALL.lines().count();
    assertThat(
            Configs.problems(
                Configs.SMALL
                    + """
                    faults:
                      - { do: loose }
                      - { do: lose, chanse: 1 }
                      - { do: lose, at: 17 }
                    """))
        .satisfiesExactly(
            p -> assertThat(p).contains("small.yaml:%d:11".formatted(lines + 2), "loose", "lose"),
            p -> assertThat(p).contains("small.yaml:%d".formatted(lines + 3), "chanse", "chance"),
            p -> assertThat(p).contains("small.yaml:%d".formatted(lines + 4), "'packet 17'"));
    assertThat(Configs.problems(Configs.SMALL + "faults: [ { do: cqe-error, at: doorbell 3 } ]\n"))
        .anySatisfy(
            p ->
                assertThat(p)
                    .contains("small.yaml:%d:32".formatted(lines + 1), "not at a 'doorbell'"));
    assertThat(Configs.problems(Configs.SMALL + "faults: nowhere.yaml\n"))
        .singleElement()
        .asString()
        .contains("DB-F001", "nowhere.yaml", "there is no such file");
  }

  @Test
  void editors_know_every_fault_and_both_schemas_say_the_same() throws IOException {
    JsonNode plan = schema("faults");
    JsonNode experiment = schema("experiment");
    assertThat(experiment.at("/$defs/fault")).isEqualTo(plan.at("/$defs/fault"));
    assertThat(experiment.at("/$defs/faultPlan/properties")).isEqualTo(plan.at("/properties"));
    List<String> words = new ArrayList<>();
    plan.at("/$defs/fault/properties/do/enum").forEach(word -> words.add(word.asString()));
    assertThat(words)
        .containsExactlyElementsOf(
            List.of(FaultAction.values()).stream().map(FaultAction::word).toList());
    assertThat(plan.at("/$defs/fault/properties/do/x-values").propertyNames())
        .containsExactlyElementsOf(words);
  }
}
