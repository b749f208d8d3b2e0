package dev.doorbell.experiments.fuzz;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.config.ConfigReader;
import dev.doorbell.experiments.config.document.DocumentKind;
import dev.doorbell.experiments.config.kernel.KernelDescriptorReader;
import dev.doorbell.experiments.fault.FaultFile;
import dev.doorbell.experiments.results.paper.Paper;
import dev.doorbell.experiments.topology.TopologyFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Whoever reads YAML refuses what would take its stack, its memory or its time. */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class HostileYamlTest {
  private interface Reader {
    void read(String text) throws ConfigException;
  }

  private static final Map<String, Reader> READERS = new LinkedHashMap<>();

  static {
    READERS.put("experiment", text -> ConfigReader.ofRuns(Map.of()).read("x", text, List.of()));
    READERS.put("topology", text -> TopologyFile.parse("x", text));
    READERS.put("fault plan", text -> FaultFile.parse("x", text));
    READERS.put("descriptor", text -> new KernelDescriptorReader().read("x", text));
    READERS.put("paper", text -> Paper.parse("x", text));
  }

  @Test
  void deep_nesting_is_refused() {
    for (String open : List.of("[", "{a: ", "- ", "? ")) {
      refused("x: 1\ny: " + open.repeat(100_000), "");
    }
    refused("[".repeat(100_000), "more than 64 levels of nesting");
  }

  @Test
  void an_alias_within_itself_is_refused() {
    refused("x: &x {<<: *x}", "an alias contains itself");
    refused("x: &x [[*x]]", "an alias contains itself");
    refused("&x {*x : 1}", "an alias contains itself");
  }

  @Test
  void a_number_of_a_million_digits_is_refused() {
    refused("seed: " + "9".repeat(1_000_000), "a number of 1,000,000 digits");
    refused("seed: 0x" + "f".repeat(1_000_000), "a number of 1,000,002 digits");
    refused("seed: 1." + "3".repeat(1_000_000) + "e9", "digits");
  }

  @Test
  void a_mapping_where_a_list_belongs_is_a_problem_and_no_fault_of_doorbell() {
    String config = "experiment: x\nquestion: y\nkernel: put_latency\n";
    for (String part :
        List.of(
            "outputs: {figures: {a: 1}}",
            "outputs: {crossovers: {a: 1}}",
            "outputs: {crossovers: [{metric: m, axis: a, over: o, between: [{a: 1}, b]}]}",
            "expect: {a: 1}",
            "expect: [{that: less, metric: latency, source: s, where: {size: {}}}]",
            "exclude: {a: 1}",
            "measure: {metrics: [{a: 1}]}")) {
      assertThat(problems(Objects.requireNonNull(READERS.get("experiment")), config + part))
          .as(part)
          .isNotEmpty();
    }
  }

  @Test
  void a_file_larger_than_any_of_its_kind_is_refused_unread(@TempDir Path folder)
      throws IOException {
    Path file = Files.writeString(folder.resolve("large"), "#".repeat(5 << 20));
    assertThat(problems(_ -> new DocumentKind("topology", "a mapping", 'T').text(file), ""))
        .singleElement()
        .satisfies(problem -> assertThat(problem.what()).contains("larger than 4 MiB"));
    assertThat(problems(_ -> new DocumentKind("topology", "a", 'T').text(Path.of("/dev/zero")), ""))
        .hasSize(1);
  }

  private static void refused(String text, String why) {
    READERS.forEach(
        (kind, reader) ->
            assertThat(problems(reader, text))
                .as(kind)
                .first()
                .satisfies(problem -> assertThat(problem.text()).contains(why)));
  }

  private static List<Problem> problems(Reader reader, String text) {
    try {
      reader.read(text);
      return List.of();
    } catch (ConfigException e) {
      return e.problems();
    }
  }
}
