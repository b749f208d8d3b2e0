package dev.doorbell.experiments.workbench.explore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.doorbell.core.adapter.Adapter;
import dev.doorbell.core.adapter.Adapters;
import dev.doorbell.experiments.scenario.kernel.BackEnds;
import dev.doorbell.experiments.workbench.explore.Nic.Remedy;
import dev.doorbell.experiments.workbench.explore.NicComparison.Row;
import dev.doorbell.experiments.workbench.explore.NicComparison.Verdict;
import dev.doorbell.experiments.workbench.explore.Scenario.ScenarioException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The project's kernels on each adapter: clean, or refused by what they need. */
class NicKernelsTest {
  private static final Path PAGE = Path.of("../docs/adapters.md");
  private static final Path SOURCES = Path.of("../kernels/src");
  private static final String BEGIN = "<!-- kernels: written by NicKernelsTest -->\n";
  private static final String END = "<!-- end of kernels -->\n";
  private static final int FEW = 3;
  private static final int SEEDS = 20;
  private static final long BUDGET_NANOS = 600_000_000_000L;

  /** What is explored, and how. */
  record Case(String kernel, Scenario.Load load) {
    @Override
    public String toString() {
      return "%s, %d x %d, %d B".formatted(kernel, load.blocks(), load.threads(), load.bytes());
    }
  }

  /** The other kernels of the project: no adapter is in their way. */
  private static final Set<String> ELSEWHERE =
      Set.of(
          "gpu_nic",
          "gpu_push_nic",
          "host_move",
          "proxy_minimal",
          "push_quiet",
          "push_ring",
          "push_shared",
          "put_dynamic",
          "put_minimal_rare");

  private static Case explored(String kernel, int blocks, int threads, int bytes) {
    return new Case(
        kernel,
        new Scenario.Load(
            blocks,
            threads,
            3,
            bytes,
            1,
            128,
            kernel.equals("put_batch") ? 1 : 0,
            "thread",
            "pull"));
  }

  static List<Case> cases() {
    return List.of(
        explored("put_latency", 1, 1, 32),
        explored("put_latency", 1, 1, 8192),
        explored("put_bandwidth", 2, 1, 32),
        explored("put_rate", 2, 4, 32),
        explored("put_batch", 1, 1, 32),
        explored("put_price", 1, 1, 32),
        explored("put_quiet", 1, 1, 32),
        explored("put_light", 1, 1, 32),
        explored("put_exclusive", 1, 1, 32),
        explored("post_once", 1, 1, 8192),
        explored("signal_order", 1, 1, 256),
        explored("signal_order", 1, 1, 8192),
        explored("operations", 2, 4, 32),
        explored("put_overlap", 2, 4, 32),
        explored("put_minimal", 2, 4, 32),
        explored("collective", 1, 2, 32),
        explored("moe", 1, 32, 32));
  }

  private static Row explore(Case explored, Adapter adapter, int seeds) throws ScenarioException {
    Scenario scenario =
        Scenarios.of(explored.kernel)
            .with(explored.load)
            .with(
                new Scenario.Posting(
                    "gpu",
                    "gpu",
                    false,
                    false,
                    false,
                    explored.kernel.equals("put_batch"),
                    4,
                    Scenario.Posting.DEFAULT_ORDER));
    return new NicComparison(new Laboratory(), scenario)
        .explore(Nic.of(adapter), seeds, BUDGET_NANOS);
  }

  @ParameterizedTest
  @MethodSource("cases")
  void a_kernel_of_the_project_is_clean_on_every_adapter_or_needs_atomics(Case explored)
      throws ScenarioException {
    for (Adapter adapter : Adapters.all()) {
      Row row = explore(explored, adapter, FEW);
      assertThat(row.verdict())
          .as("%s on %s: %s", explored, adapter, row.finding())
          .isIn(Verdict.CLEAN, Verdict.REFUSED);
    }
  }

  @Test
  void every_kernel_of_the_project_has_a_row_or_a_reason() {
    Set<String> named = new HashSet<>(ELSEWHERE);
    cases().forEach(explored -> named.add(explored.kernel));
    assertThat(named).containsExactlyInAnyOrderElementsOf(new Laboratory().kernels());
  }

  @Test
  void kernels_without_a_row_say_why() {
    for (String kernel : ELSEWHERE) {
      assertThat(reason(kernel)).isNotEmpty();
    }
  }

  @Test
  void a_kernel_has_back_ends_if_its_source_defines_them() throws Exception {
    for (String kernel : new Laboratory().kernels()) {
      String ptx = Scenarios.LABORATORY.kernel(kernel).orElseThrow().ptx();
      boolean defined =
          Files.readString(SOURCES.resolve(kernel + ".cu"))
              .contains("#define DOORBELL_BACK_ENDS\n");
      assertThat(BackEnds.lacking(ptx, Adapters.named("efa")).isEmpty())
          .as(kernel)
          .isEqualTo(defined);
      assertThat(BackEnds.lacking(ptx, Adapter.DEFAULT)).isEmpty();
    }
  }

  @Test
  @Tag("slow")
  void the_page_has_the_verdict_on_each_kernel_and_adapter() throws Exception {
    String text = text();
    String page = Files.readString(PAGE);
    int begin = page.indexOf(BEGIN) + BEGIN.length();
    if (Boolean.getBoolean("docs.write")) {
      Files.writeString(PAGE, page.substring(0, begin) + text + page.substring(page.indexOf(END)));
      page = Files.readString(PAGE);
    }
    assertThat(page.substring(begin, page.indexOf(END)))
        .as(
            "docs/adapters.md is stale; run: ./doorbell test --slow experiments NicKernelsTest"
                + " -Ddocs.write=true")
        .isEqualTo(text);
  }

  private static String text() throws ScenarioException {
    List<String> lines = new ArrayList<>();
    List<String> clean = new ArrayList<>();
    List<String> others = new ArrayList<>();
    for (Case explored : cases()) {
      Map<String, List<String>> verdicts = new LinkedHashMap<>();
      for (Adapter adapter : Adapters.all()) {
        String cell = cell(explore(explored, adapter, SEEDS));
        if (!cell.equals("clean")) {
          verdicts.computeIfAbsent(cell, _ -> new ArrayList<>()).add("`" + adapter + "`");
        }
      }
      if (verdicts.isEmpty()) {
        clean.add("`" + explored + "`");
      } else {
        others.add(
            "| `%s` | %s |"
                .formatted(
                    explored,
                    verdicts.entrySet().stream()
                        .map(each -> String.join(", ", each.getValue()) + ": " + each.getKey())
                        .collect(Collectors.joining("; "))));
      }
    }
    lines.add("Clean on every adapter: " + String.join("; ", clean) + ".");
    lines.add("");
    lines.add("| clean but for | there |");
    lines.add("| --- | --- |");
    lines.addAll(others);
    lines.add("");
    lines.add("Not explored on adapters:");
    lines.add("");
    Map<String, List<String>> reasons = new TreeMap<>();
    for (String kernel : new TreeSet<>(ELSEWHERE)) {
      reasons.computeIfAbsent(reason(kernel), _ -> new ArrayList<>()).add("`" + kernel + "`");
    }
    reasons.forEach(
        (reason, kernels) -> lines.add("- " + String.join(", ", kernels) + ": " + reason));
    return String.join("\n", lines) + "\n\n";
  }

  /** What {@code explore} says to a kernel without a row. */
  private static String reason(String kernel) {
    ScenarioException refused =
        assertThrows(
            ScenarioException.class, () -> explore(explored(kernel, 1, 1, 32), Adapter.DEFAULT, 1));
    return String.valueOf(refused.getMessage()).replaceFirst("^.*explored: ", "");
  }

  private static String cell(Row row) {
    return switch (row.verdict()) {
      case CLEAN -> "clean";
      case REFUSED -> row.refused().orElseThrow();
      case UNFINISHED -> "unfinished";
      case FOUND ->
          row.finding().orElse("found")
              + row.remedies().stream()
                  .map(Remedy::word)
                  .collect(Collectors.joining(", ", " (", ")"));
    };
  }
}
