package dev.doorbell.experiments.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.experiments.config.schema.Schema;
import dev.doorbell.experiments.config.value.Value;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

class ConfigHashTest {
  /**
   * Keys that say what is asked, expected and drawn of the results, or how long to wait for them.
   */
  private static final List<String> TELLING =
      List.of("experiment", "question", "expectation", "expect", "outputs");

  private static final List<String> TELLING_MEASURE = List.of("timeout");

  /** Settings that count in every hash; none is ever added to these. */
  private static final Set<String> FROM_THE_BEGINNING =
      Stream.of(
              "path placement variant ranks messages size offset sq cq record payload dma doorbell",
              "scope threads blocks posting ringing fence exclusive proxies communicating work",
              "access qps depth window chunk mtu relaxed slots load full rtt release batch senders",
              "policy switch buffer mark producers engines")
          .flatMap(line -> Stream.of(line.split(" ")))
          .collect(Collectors.toSet());

  @Test
  void whoever_adds_a_setting_says_with_which_value_runs_are_what_they_were() {
    assertThat(Schema.experiment().settings().keySet())
        .filteredOn(name -> Schema.experiment().before(name) == null)
        .as(
            "settings without x-before: a new one says there with which value runs are what they"
                + " were before it, or every hash changes")
        .containsExactlyInAnyOrderElementsOf(FROM_THE_BEGINNING);
  }

  @Test
  void the_hash_of_an_experiment_is_the_same_from_release_to_release() {
    assertThat(Configs.read(Configs.SMALL).hash())
        .isEqualTo("5961e65086d4f866faa4f0c68816f7304e20f4ee664d768ea635e0c5d04e736d");
  }

  @Test
  void a_run_of_before_is_read_although_a_setting_is_gone() {
    String stored =
        Configs.SMALL.replace(
            "exclude:",
            "fixed: { hold: 500000, remedy: reset, fault: none, silence: 6000000 }\nexclude:");
    assertThat(Configs.read(stored).hash()).isEqualTo(Configs.read(Configs.SMALL).hash());
    assertThatThrownBy(() -> Configs.read(stored.replace("500000", "7")))
        .hasMessageContaining("unknown key 'hold' in fixed");
  }

  @Test
  void every_key_of_an_experiment_either_decides_or_tells() {
    Schema schema = Schema.experiment();
    assertThat(Stream.of(ConfigHash.DECIDING, TELLING, List.of("measure")))
        .flatExtracting(keys -> keys)
        .containsExactlyInAnyOrderElementsOf(schema.topLevel());
    assertThat(Stream.of(ConfigHash.DECIDING_MEASURE, TELLING_MEASURE))
        .flatExtracting(keys -> keys)
        .containsExactlyInAnyOrderElementsOf(schema.measureKeys());
  }

  @Test
  void a_new_setting_at_what_was_before_it_leaves_the_hash_as_it_was() {
    Schema schema = withSetting("lanes", 16, 16);
    assertThat(read(schema, Configs.SMALL).hash()).isEqualTo(Configs.read(Configs.SMALL).hash());
    assertThat(read(schema, Configs.SMALL, "lanes=16").hash())
        .isEqualTo(Configs.read(Configs.SMALL).hash());
    assertThat(read(schema, Configs.SMALL, "lanes=8").hash())
        .isNotEqualTo(Configs.read(Configs.SMALL).hash());
  }

  @Test
  void a_new_setting_whose_default_is_another_changes_the_hash() {
    assertThat(read(withSetting("lanes", 8, 16), Configs.SMALL).hash())
        .isNotEqualTo(Configs.read(Configs.SMALL).hash());
  }

  @Test
  void a_changed_default_changes_the_hash_of_those_that_relied_on_it_alone() {
    Schema schema = withDefault("window", 32);
    assertThat(read(schema, Configs.SMALL).hash())
        .isNotEqualTo(Configs.read(Configs.SMALL).hash())
        .isEqualTo(Configs.read(Configs.SMALL, "window=32").hash());
    assertThat(read(schema, Configs.SMALL, "window=16").hash())
        .isEqualTo(Configs.read(Configs.SMALL).hash());
  }

  @Test
  void a_changed_default_of_warm_up_changes_the_hash() {
    JsonNode root = Schema.experiment().root().deepCopy();
    ((ObjectNode) root.at("/properties/measure/properties/warmup")).put("default", 3);
    assertThat(read(Schema.of(root), Configs.SMALL).hash())
        .isNotEqualTo(Configs.read(Configs.SMALL).hash())
        .isEqualTo(Configs.read(Configs.SMALL, "warmup=3").hash());
  }

  @Test
  void an_old_run_is_read_with_what_it_did_and_not_with_the_default_of_today() {
    String kept = Configs.read(Configs.SMALL).resolved();
    Schema today = withSetting("lanes", 8, 16);
    ExperimentConfig old = read(today.asBefore(), kept);
    assertThat(old.fixed()).containsEntry("lanes", new Value.Whole(16));
    assertThat(old.hash()).isEqualTo(Configs.read(Configs.SMALL).hash());
  }

  @Test
  void the_order_of_the_schema_does_not_matter_and_that_of_the_axes_does() {
    JsonNode root = Schema.experiment().root().deepCopy();
    ObjectNode settings = (ObjectNode) root.at("/$defs/setting");
    JsonNode first = settings.remove("mtu");
    settings.set("mtu", first);
    assertThat(read(Schema.of(root), Configs.SMALL).hash())
        .isEqualTo(Configs.read(Configs.SMALL).hash());
    String swapped =
        Configs.SMALL.replace(
            "  path: [pull, push.inline, push.memic]\n  size: [64, 4K]\n",
            "  size: [64, 4K]\n  path: [pull, push.inline, push.memic]\n");
    assertThat(Configs.read(swapped).hash()).isNotEqualTo(Configs.read(Configs.SMALL).hash());
  }

  @Test
  void what_is_asked_expected_or_drawn_is_no_part_of_the_hash() {
    String hash = Configs.read(Configs.SMALL).hash();
    assertThat(Configs.read("# a comment\n" + Configs.SMALL).hash()).isEqualTo(hash);
    assertThat(Configs.read(Configs.SMALL.replace("Does it run?", "Does it?")).hash())
        .isEqualTo(hash);
    assertThat(Configs.read(Configs.SMALL.replace("experiment: small", "experiment: tiny")).hash())
        .isEqualTo(hash);
    assertThat(Configs.read(Configs.SMALL.replace("logx: true", "logx: false")).hash())
        .isEqualTo(hash);
    assertThat(Configs.read(Configs.SMALL, "timeout=20s").hash()).isEqualTo(hash);
    assertThat(Configs.read(Configs.SMALL, "measure.repeat=1").hash()).isEqualTo(hash);
    assertThat(Configs.read(Configs.SMALL, "launches=3").hash()).as("as before").isEqualTo(hash);
  }

  @Test
  void what_decides_the_results_is() {
    String hash = Configs.read(Configs.SMALL).hash();
    for (String override :
        List.of(
            "seed=43",
            "gpu=vm",
            "hca=soft",
            "clock=wall",
            "kernel=put_bandwidth",
            "window=8",
            "size=64",
            "samples=6",
            "warmup=1",
            "launches=4",
            "measure.repeat=2")) {
      assertThat(Configs.read(Configs.SMALL, override).hash()).as(override).isNotEqualTo(hash);
    }
    assertThat(Configs.read(Configs.SMALL.replace("\">220\"", "\">64\"")).hash())
        .isNotEqualTo(hash);
  }

  private static Schema withSetting(String name, long standard, long before) {
    ObjectNode root = (ObjectNode) Schema.experiment().root().deepCopy();
    ObjectNode setting = (ObjectNode) root.at("/$defs/setting/qps").deepCopy();
    setting.put("default", standard).put("x-before", before);
    // Among the others, not behind them.
    ObjectNode settings = JsonNodeFactory.instance.objectNode().set(name, setting);
    settings.setAll((ObjectNode) root.at("/$defs/setting"));
    ((ObjectNode) root.at("/$defs")).set("setting", settings);
    ((ObjectNode) root.at("/properties/fixed/properties"))
        .putObject(name)
        .put("$ref", "#/$defs/setting/" + name);
    return Schema.of(root);
  }

  private static Schema withDefault(String name, long standard) {
    JsonNode root = Schema.experiment().root().deepCopy();
    ((ObjectNode) root.at("/$defs/setting/" + name)).put("default", standard);
    return Schema.of(root);
  }

  private static ExperimentConfig read(Schema schema, String text, String... overrides) {
    try {
      return new ConfigReader(schema, Configs.WORDS).read("small.yaml", text, List.of(overrides));
    } catch (ConfigException e) {
      throw new AssertionError(e.problems().toString(), e);
    }
  }
}
