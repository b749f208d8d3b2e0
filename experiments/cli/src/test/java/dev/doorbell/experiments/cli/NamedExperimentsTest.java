package dev.doorbell.experiments.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.experiments.cli.command.ExitCode;
import dev.doorbell.experiments.cli.plan.ExperimentFiles;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Every experiment that Doorbell brings, in virtual time, held against what it expects; the long
 * ones at fewer points. {@code -Ddoorbell.whole=true} runs them all as they are.
 */
@Tag("slow")
class NamedExperimentsTest {
  private static final boolean WHOLE = Boolean.getBoolean("doorbell.whole");

  private static final Map<String, List<String>> REDUCED =
      Map.ofEntries(
          Map.entry(
              "pull-vs-push",
              List.of("size=64,4K,16K,64K", "samples=3", "placement=h200-cx7,h200-cx7-epyc")),
          Map.entry("staging-knee", List.of("rtt=500,8000,32000,64000")),
          Map.entry("incast", List.of("senders=2,16", "switch=lossy,pfc")),
          Map.entry("staging-buffer", List.of("slots=4,8", "load=70,90")),
          Map.entry("topology-what-if", List.of("samples=1")),
          Map.entry("all-to-all", List.of("ranks=2,8")),
          Map.entry("congestion", List.of("traffic=incast,victim")),
          Map.entry("proxy-queues", List.of("samples=5", "background=0,64")),
          Map.entry("signal-order", List.of("size=64", "samples=3")),
          Map.entry("unordered-allgather", List.of("size=8K", "signal=strict-key,fence-bit")));

  @TempDir private Path folder;

  static List<String> names() {
    return ExperimentFiles.names();
  }

  @ParameterizedTest
  @MethodSource("names")
  void it_verifies_its_data_and_meets_what_it_expects_or_says_why_not(String name) {
    // What takes long here is no fault of the experiment: whole runs and slow machines do.
    List<String> arguments =
        new ArrayList<>(
            List.of("run", name, "--json", "-s", "clock=virtual", "-s", "timeout=15min"));
    if (!WHOLE) {
      REDUCED.getOrDefault(name, List.of()).forEach(set -> arguments.addAll(List.of("-s", set)));
    }
    arguments.addAll(List.of("--out", folder.toString()));
    ByteArrayOutputStream output = new ByteArrayOutputStream();
    ExitCode code = run(output, arguments.toArray(String[]::new));
    String text = output.toString(StandardCharsets.UTF_8);
    assertThat(code).as(text).isEqualTo(ExitCode.OK);
    JsonNode report = JsonMapper.shared().readTree(text);
    assertThat(report.get("without_result")).isEmpty();
    JsonNode expectations = report.at("/summary/expectations");
    assertThat(expectations).as("expectations of " + name).isNotEmpty();
    int met = 0;
    for (JsonNode one : expectations) {
      boolean missed = one.get("verdict").asString().equals("NOT MET");
      assertThat(missed && !one.has("known")).as(one.toPrettyString()).isFalse();
      met += one.get("verdict").asString().equals("met") ? 1 : 0;
    }
    assertThat(met).isPositive();
    String run = report.get("run").asString();
    for (List<String> shown :
        List.of(
            List.of("table", run), List.of("run", "--resume", run), List.of("describe", name))) {
      output.reset();
      run(output, shown.toArray(String[]::new));
      assertThat(
              output.toString(StandardCharsets.UTF_8).lines().filter(line -> !line.contains(run)))
          .as("%s on a terminal of 80 columns", shown)
          .isNotEmpty()
          .allMatch(line -> line.length() <= 80);
    }
  }

  /** Types a command, whose results go to {@code output}. */
  static ExitCode run(ByteArrayOutputStream output, String... arguments) {
    RealSession session = new RealSession(80);
    ExitCode code = session.type(arguments);
    output.writeBytes(session.out().getBytes(StandardCharsets.UTF_8));
    return code;
  }
}
