package dev.doorbell.experiments.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.Basis;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.cli.command.ExitCode;
import dev.doorbell.experiments.config.Configs;
import dev.doorbell.experiments.plan.PointFailure;
import dev.doorbell.experiments.plan.PointResult;
import dev.doorbell.experiments.plan.PointRunner;
import dev.doorbell.experiments.plan.Samples;
import dev.doorbell.experiments.run.FakeRuntime;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class CompareCommandTest {
  /** Two runs that every test has a copy of. */
  @TempDir private static Path made;

  @TempDir private Path folder;
  private final Session session = new Session();
  private String config = "";
  private String runs = "";

  @BeforeEach
  void copyRuns() throws IOException {
    config = Files.writeString(folder.resolve("small.yaml"), Configs.SMALL).toString();
    Path kept = made.resolve("runs");
    if (!Files.exists(kept)) {
      runs = kept.toString();
      run("before");
      run("again", "--seed", "43");
    }
    Path copy = folder.resolve("runs");
    try (Stream<Path> files = Files.walk(kept)) {
      for (Path file : files.toList()) {
        Files.copy(file, copy.resolve(kept.relativize(file).toString()));
      }
    }
    runs = copy.toString();
  }

  @Test
  void two_runs_of_the_same_are_no_change() {
    assertThat(compare("before", "again")).isEqualTo(ExitCode.OK);
    assertThat(session.out())
        .contains("no change overall: 10 no change")
        .contains("tests: Mann-Whitney, Holm-corrected over 10")
        .doesNotContain("REGRESSED", "improved");
  }

  @Test
  void a_slower_point_is_a_regression_and_exit_5() {
    session.runtime.runner = slower("push.memic_64", 1.2);
    run("slow", "--seed", "43");
    assertThat(compare("before", "slow", "--metric", "latency")).isEqualTo(ExitCode.REGRESSION);
    assertThat(session.out())
        .containsPattern(
            "push.memic +64 B .* \\+(19|20|21)\\.\\d % .* <0.001 .*REGRESSED \\(> 1 %\\)")
        .contains("REGRESSED overall: 4 no change, 1 REGRESSED");
  }

  @Test
  void too_few_samples_leave_a_large_change_undecided_and_a_gate_ends_with_9() {
    run("few", "-s", "samples=3");
    session.runtime.runner = slower("push.memic_64", 3);
    run("worse", "--seed", "43", "-s", "samples=3", "-s", "repeat=1");
    assertThat(compare("few", "worse", "--metric", "latency")).isEqualTo(ExitCode.UNDECIDED);
    assertThat(session.out())
        .contains("undecided (n = 3; run with --repeat 2)")
        .contains("undecided overall: 5 undecided")
        .contains("--tag few -s samples=3 --repeat 2\n")
        .contains("--tag worse --seed 43 -s samples=3 -s repeat=1 --repeat 2\n")
        .doesNotContain("no change");
    assertThat(gate("worse", "few")).isEqualTo(ExitCode.UNDECIDED);
    assertThat(session.out()).endsWith("gate undecided: too few samples for a verdict\n");
  }

  @Test
  void one_sample_a_point_asks_for_as_many_repetitions_as_decide() {
    run("one", "-s", "samples=1");
    run("other", "--seed", "43", "-s", "samples=1", "--only", "size=64,path=pull");
    assertThat(compare("one", "other", "--metric", "latency", "--json"))
        .isEqualTo(ExitCode.UNDECIDED);
    assertThat(JsonMapper.shared().readTree(session.out()).at("/points/0/repeat").asInt())
        .isEqualTo(4);
    run("four", "--repeat", "4", "-s", "samples=1", "--only", "size=64,path=pull");
    run("more", "--repeat", "4", "--seed", "43", "-s", "samples=1", "--only", "size=64,path=pull");
    assertThat(compare("four", "more", "--metric", "latency")).isEqualTo(ExitCode.OK);
  }

  @Test
  void runs_that_differ_in_a_setting_of_one_value_each_are_paired_and_it_is_named() {
    run("one", "-s", "placement=same-switch", "-s", "path=pull");
    run("two", "-s", "placement=cross-rc", "-s", "path=pull");
    run("inline", "-s", "placement=cross-rc", "-s", "path=pull,push.memic");
    assertThat(compare("one", "two")).isEqualTo(ExitCode.OK);
    assertThat(session.out())
        .contains("differs  placement: same-switch -> cross-rc\n", "same host: yes");
    run("far", "-s", "path=push.memic", "-s", "size=64");
    assertThat(compare("one", "far", "--json")).isEqualTo(ExitCode.OK);
    assertThat(JsonMapper.shared().readTree(session.out()).at("/differs").toString())
        .contains("\"path\":[\"pull\",\"push.memic\"]");
    run("small", "-s", "size=64");
    run("large", "-s", "size=512,4K");
    assertThat(compare("small", "large")).isNotEqualTo(ExitCode.OK);
    assertThat(session.err()).contains("of size the first run has 64, the second 512, 4096");
  }

  @Test
  void a_table_that_a_run_has_nothing_for_says_so() {
    run("plain", "-s", "path=pull", "-s", "metrics=latency");
    assertThat(type("table", "plain", Stream.of("--runs", runs), "--crossovers"))
        .isEqualTo(ExitCode.OK);
    assertThat(session.out()).startsWith("no crossovers: ").hasLineCount(1);
  }

  @Test
  void in_virtual_time_with_the_same_seed_the_size_of_the_change_decides() {
    run("few", "-s", "samples=1");
    session.runtime.runner = slower("push.memic_64", 1.2);
    run("worse", "-s", "samples=1");
    assertThat(compare("few", "worse")).isEqualTo(ExitCode.REGRESSION);
    assertThat(session.out())
        .containsPattern("push.memic +64 B .* 1 .* \\+20\\.\\d % +- +\\+1.00 +- +REGRESSED")
        .contains("10 of 10 repeat exactly in virtual time: the size of the change decides")
        .doesNotContain("Mann-Whitney");
    assertThat(gate("worse", "few")).isEqualTo(ExitCode.REGRESSION);
    assertThat(compare("worse", "worse")).isEqualTo(ExitCode.OK);
    assertThat(session.out()).contains("no change overall: 10 no change");
  }

  @Test
  void wall_time_is_tested_also_where_the_seed_is_the_same() {
    session.runtime.basis = Basis.EMULATED;
    run("wall", "-s", "samples=3");
    run("again3", "-s", "samples=3");
    assertThat(compare("wall", "again3")).isEqualTo(ExitCode.UNDECIDED);
  }

  @Test
  void what_is_better_depends_on_the_metric() {
    session.runtime.runner = slower("push.memic_64", 0.8);
    run("other", "--seed", "43");
    assertThat(compare("before", "other", "--metric", "latency")).isEqualTo(ExitCode.OK);
    assertThat(session.out()).contains("improved overall");
    assertThat(compare("before", "other", "--metric", "goodput")).isEqualTo(ExitCode.REGRESSION);
  }

  @Test
  void a_change_below_the_threshold_is_within_noise() {
    session.runtime.runner = slower("push.memic_64", 1.2);
    run("slow", "--seed", "43");
    assertThat(compare("before", "slow", "--metric", "latency", "--threshold", "30%"))
        .isEqualTo(ExitCode.OK);
    assertThat(session.out()).contains("within noise overall: 4 no change, 1 within noise");
  }

  @Test
  void a_gate_writes_its_verdicts_for_continuous_integration() throws Exception {
    session.runtime.runner = slower("push.memic_64", 1.2);
    run("slow", "--seed", "43");
    Path file = folder.resolve("gate.xml");
    assertThat(gate("slow", "before", "--junit", file.toString())).isEqualTo(ExitCode.REGRESSION);
    Document xml = DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(file.toFile());
    Element suite = xml.getDocumentElement();
    assertThat(suite.getAttribute("name")).isEqualTo("doorbell gate small");
    assertThat(suite.getAttribute("tests")).isEqualTo("10");
    assertThat(suite.getAttribute("failures")).isEqualTo("1");
    Element failure = (Element) suite.getElementsByTagName("failure").item(0);
    assertThat(((Element) failure.getParentNode()).getAttribute("name"))
        .contains("path=push.memic", "size=64");
    assertThat(failure.getAttribute("message")).startsWith("latency +").contains("REGRESSED (> 5");
    String nowhere = folder.resolve("none/gate.xml").toString();
    assertThat(gate("slow", "before", "--junit", nowhere)).isEqualTo(ExitCode.USAGE);
    assertThat(session.err()).contains("cannot be written");
  }

  @Test
  void runs_and_tags_are_listed() {
    run("again", "--seed", "44");
    assertThat(session.type("list", "runs", "--runs", runs)).isEqualTo(ExitCode.OK);
    assertThat(session.out().lines()).hasSize(4);
    assertThat(session.out()).containsPattern("-small-\\w+ +complete +modelled +5/5 +before");
    assertThat(session.type("list", "tags", "--runs", runs)).isEqualTo(ExitCode.OK);
    assertThat(session.out().lines()).as("the newest run of each tag").hasSize(3);
    assertThat(session.type("list", "tags", "--runs", runs, "--json")).isEqualTo(ExitCode.OK);
    assertThat(JsonMapper.shared().readTree(session.out()).at("/tags/before").asString())
        .startsWith(runs);
    session.type("list", "runs", "--runs", folder.resolve("none").toString());
    assertThat(session.out()).startsWith("no runs in ");
  }

  @Test
  void a_table_shows_the_rows_and_columns_that_are_asked_for() {
    session.width = 60;
    assertThat(table("--metric", "latency", "--only", "path=pull", "--sort", "-latency"))
        .isEqualTo(ExitCode.OK);
    assertThat(session.out())
        .startsWith("all at path pull\n")
        .doesNotContainPattern("\n *(push|goodput|tlp)");
    assertThat(session.out().lines()).allMatch(line -> line.length() <= 60);
    assertThat(session.out()).as("the slowest first").containsPattern("\n4 KiB .*\n *64 B ");
    assertThat(table("--columns", "p50,min,max", "--fmt", "latex", "--bare"))
        .isEqualTo(ExitCode.OK);
    assertThat(session.out()).startsWith("\\begin{tabular}{l").contains("min").doesNotContain("CI");
    assertThat(table("--only", "size=3")).isEqualTo(ExitCode.USAGE);
    assertThat(session.err()).contains("no point of the run is like that", "size=64|");
    assertThat(table("--metric", "latenzy")).isEqualTo(ExitCode.USAGE);
    assertThat(session.err()).containsPattern("did you mean\\s+'latency'\\?");
    assertThat(table("--bare")).isEqualTo(ExitCode.USAGE);
  }

  private ExitCode table(String... more) {
    return type("table", "before", Stream.of("--runs", runs), more);
  }

  @Test
  void json_has_every_number_of_the_table() {
    assertThat(compare("before", "again", "--json")).isEqualTo(ExitCode.OK);
    JsonNode json = JsonMapper.shared().readTree(session.out());
    assertThat(json.at("/overall").asString()).isEqualTo("no_change");
    assertThat(json.at("/points")).hasSize(10);
    assertThat(json.at("/points/0/before_n").asInt()).isEqualTo(60);
    assertThat(json.at("/points/0/change_ci95")).hasSize(2);
    assertThat(json.at("/same_machine").asBoolean()).isTrue();
  }

  @Test
  void points_without_a_counterpart_are_counted_and_fail_a_gate() {
    session.runtime.runner =
        (point, _) -> {
          if (point.id().equals("pull_64")) {
            throw new PointFailure(
                PointFailure.Kind.FAILED, Problem.of("DB-P002", point.id(), "nothing came"));
          }
          return FakeRuntime.result(point);
        };
    run("hole", "--seed", "43");
    assertThat(compare("before", "hole")).isEqualTo(ExitCode.OK);
    assertThat(session.out()).contains("1 point, such as pull_64");
    assertThat(gate("hole", "before")).isEqualTo(ExitCode.FAILED);
    assertThat(session.out()).endsWith("gate failed: no result for 1 point of the baseline\n");
    assertThat(gate("before", "hole")).isEqualTo(ExitCode.OK);
  }

  @Test
  void a_gate_lets_through_what_is_no_worse_than_its_share() {
    session.runtime.runner = slower("push.memic_64", 1.2);
    run("slow", "--seed", "43");
    assertThat(gate("again", "before")).isEqualTo(ExitCode.OK);
    assertThat(session.out()).endsWith("gate passed\n");
    assertThat(gate("slow", "before")).isEqualTo(ExitCode.REGRESSION);
    assertThat(session.out()).endsWith("gate failed: regression\n");
    assertThat(gate("slow", "before", "--threshold", "30%")).isEqualTo(ExitCode.OK);
  }

  @Test
  void a_folder_that_is_no_run_does_not_hide_the_tag_of_its_name() {
    assertThat(Path.of("cli")).isDirectory();
    run("src", "--seed", "44");
    assertThat(compare("before", "src")).isEqualTo(ExitCode.OK);
  }

  @Test
  void residuals_say_how_far_a_model_is_off_and_give_no_verdict() {
    session.runtime.runner = slower("push.memic_64", 1.2);
    run("slow", "--seed", "43");
    assertThat(compare("before", "slow", "--metric", "latency", "--residuals"))
        .isEqualTo(ExitCode.OK);
    assertThat(session.out())
        .containsPattern("push.memic +64 B +latency us .* \\+(19|20|21)\\.\\d %")
        .contains("4 of 5 within 10 %; the difference is (second - first) / first")
        .doesNotContain("REGRESSED", "Mann-Whitney");
    assertThat(compare("before", "slow", "--residuals", "--json")).isEqualTo(ExitCode.OK);
    JsonNode json = JsonMapper.shared().readTree(session.out());
    assertThat(json.at("/points")).hasSize(10);
    assertThat(json.at("/points/0/residual").isNumber()).isTrue();
  }

  @Test
  void points_are_matched_by_settings_also_where_one_run_sweeps_what_the_other_fixes() {
    run("wide", "--seed", "43", "-s", "qps=1,2");
    assertThat(compare("before", "wide", "--metric", "latency")).isEqualTo(ExitCode.OK);
    assertThat(session.out()).contains("no change overall: 5 no change", ": 5 points, such as ");
  }

  @Test
  void an_unknown_run_or_metric_is_a_usage_error() {
    assertThat(compare("befor", "agai")).isEqualTo(ExitCode.USAGE);
    assertThat(session.err()).contains("DB-R006", "DIR/NAME");
    assertThat(compare("before", "again", "--metric", "latenzy")).isEqualTo(ExitCode.USAGE);
    assertThat(session.err()).contains("did you mean 'latency'?");
    assertThat(compare("before", "again", "--threshold", "much")).isEqualTo(ExitCode.USAGE);
  }

  /** All samples of one point multiplied. */
  private static PointRunner slower(String id, double factor) {
    return (point, _) -> {
      PointResult result = FakeRuntime.result(point);
      if (!point.id().equals(id)) {
        return result;
      }
      List<Samples> samples =
          result.samples().stream()
              .map(
                  s ->
                      Samples.of(
                          s.metric(),
                          s.unit(),
                          Arrays.stream(s.values()).map(v -> v * factor).toArray()))
              .toList();
      return new PointResult(
          result.basis(), samples, result.counters(), result.verifiedBytes(), List.of());
    };
  }

  private ExitCode run(String tag, String... more) {
    Stream<String> samples =
        Stream.of(more).anyMatch(word -> word.startsWith("samples="))
            ? Stream.of()
            : Stream.of("-s", "samples=60");
    return type(
        "run", config, Stream.concat(Stream.of("--out", runs, "--tag", tag), samples), more);
  }

  private ExitCode compare(String before, String after, String... more) {
    return type("compare", before, Stream.of(after, "--runs", runs), more);
  }

  private ExitCode gate(String run, String baseline, String... more) {
    return type("compare", baseline, Stream.of(run, "--gate", "--runs", runs), more);
  }

  private ExitCode type(String command, String first, Stream<String> then, String... more) {
    return session.type(
        Stream.of(Stream.of(command, first), then, Stream.of(more))
            .flatMap(words -> words)
            .toArray(String[]::new));
  }
}
