package dev.doorbell.experiments.workbench.explore;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.adapter.Adapter;
import dev.doorbell.core.adapter.Adapters;
import dev.doorbell.experiments.workbench.explore.NicComparison.Row;
import dev.doorbell.experiments.workbench.explore.NicComparison.Verdict;
import dev.doorbell.experiments.workbench.explore.run.ExploringLaboratory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The project's kernels on each adapter: clean, or refused because they need atomics. */
class NicKernelsTest {
  private static final Path PAGE = Path.of("../docs/adapters.md");
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

  /** The other kernels of the project, and why they have no row. */
  private static final Map<String, String> ELSEWHERE =
      Map.ofEntries(
          Map.entry("collective", "CollectiveOrderTest explores it on each adapter, three ranks"),
          Map.entry("moe", "its flags are those of `collective`, by the same `signal`"),
          Map.entry("restartable", "runs under a supervisor, docs/recovery.md"),
          Map.entry("put_overlap", "posts as `put_rate` does, beside blocks that compute"),
          Map.entry("put_minimal", "leaves out orders one by one, to price them"),
          Map.entry("proxy_minimal", "hands commands to the CPU"),
          Map.entry("host_move", "no HCA"),
          Map.entry("gpu_nic", "no HCA: a GPU is the NIC"),
          Map.entry("gpu_push_nic", "no HCA: a GPU is the NIC"),
          Map.entry("push_pool", "no HCA: a push engine with credits"),
          Map.entry("push_quiet", "no HCA: a push engine with credits"),
          Map.entry("push_ring", "no HCA: a push engine with credits"),
          Map.entry("push_shared", "no HCA: a push engine with credits"));

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
        explored("post_once", 1, 1, 8192),
        explored("signal_order", 1, 1, 256),
        explored("signal_order", 1, 1, 8192),
        explored("operations", 2, 4, 32));
  }

  private static Row explore(Case explored, Adapter adapter, int seeds) throws ScenarioException {
    Scenario scenario =
        Scenarios.of(explored.kernel)
            .with(explored.load)
            .with(
                new Scenario.Posting(
                    "gpu", "gpu", false, false, false, explored.kernel.equals("put_batch"), 4));
    return new NicComparison(new ExploringLaboratory(), scenario)
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
    Set<String> named = new HashSet<>(ELSEWHERE.keySet());
    cases().forEach(explored -> named.add(explored.kernel));
    assertThat(named).containsExactlyInAnyOrderElementsOf(new ExploringLaboratory().kernels());
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
    lines.add(
        "| kernel, blocks x threads, message | "
            + Adapters.names().stream()
                .map(name -> "`" + name + "`")
                .collect(Collectors.joining(" | "))
            + " |");
    lines.add("| --- |" + " --- |".repeat(Adapters.names().size()));
    for (Case explored : cases()) {
      StringBuilder line = new StringBuilder("| `" + explored + "` |");
      for (Adapter adapter : Adapters.all()) {
        line.append(" ").append(cell(explore(explored, adapter, SEEDS))).append(" |");
      }
      lines.add(line.toString());
    }
    lines.add("");
    lines.add("Without a row:");
    lines.add("");
    new TreeMap<>(ELSEWHERE).forEach((kernel, why) -> lines.add("- `" + kernel + "`: " + why));
    return String.join("\n", lines) + "\n\n";
  }

  private static String cell(Row row) {
    return switch (row.verdict()) {
      case CLEAN -> "clean";
      case REFUSED -> "needs " + row.lacks().orElse("another adapter");
      case UNFINISHED -> "unfinished";
      case FOUND ->
          row.finding().orElse("found")
              + row.remedies().stream()
                  .map(Remedy::word)
                  .collect(Collectors.joining(", ", " (", ")"));
    };
  }
}
