package dev.doorbell.experiments.cli.explore;

import dev.doorbell.core.problem.Nearest;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.cli.command.CliCommand.CommonOptions;
import dev.doorbell.experiments.cli.command.CommandContext;
import dev.doorbell.experiments.cli.command.ExitCode;
import dev.doorbell.experiments.cli.command.Json;
import dev.doorbell.experiments.cli.command.UsageException;
import dev.doorbell.experiments.workbench.explore.BugCase;
import dev.doorbell.experiments.workbench.explore.Explorer;
import dev.doorbell.experiments.workbench.explore.Laboratory;
import dev.doorbell.experiments.workbench.explore.Nic;
import dev.doorbell.experiments.workbench.explore.Scenario;
import dev.doorbell.experiments.workbench.explore.Scenario.ScenarioException;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** {@code doorbell explore --case NAME}: finds a public bug and checks that its fix is clean. */
final class CaseRunner {
  private final CommandContext context;
  private final CommonOptions common;
  private final Laboratory laboratory;

  private record Explored(
      BugCase bug,
      Explorer.Report broken,
      Explorer.Report fixed,
      Explorer.@Nullable Report hidden) {
    boolean isAsExpected() {
      // time may have run out within the last run
      int cut = broken.finished() < broken.runs() ? 1 : 0;
      return broken.found() > 0
          && broken.found() >= broken.runs() - cut
          && fixed.isClean()
          && (hidden == null || hidden.isClean());
    }

    boolean isWhole(int seeds) {
      return broken.found() == seeds
          && fixed.finished() == seeds
          && (hidden == null || hidden.finished() == seeds);
    }

    String where() {
      return hidden == null
          ? ""
          : "%s; on %s found in %d of %d   "
              .formatted(bug.nic(), Nic.DEFAULT.name(), hidden.found(), hidden.runs());
    }
  }

  CaseRunner(CommandContext context, CommonOptions common, Laboratory laboratory) {
    this.context = context;
    this.common = common;
    this.laboratory = laboratory;
  }

  /**
   * Lists or explores cases.
   *
   * @param word a case, {@code list} or {@code all}
   * @param seeds runs of each kernel
   * @param nanos of wall time at most, for each case
   */
  ExitCode run(String word, int seeds, long nanos) throws UsageException {
    if (word.equals("list")) {
      list();
      return ExitCode.OK;
    }
    List<BugCase> cases = word.equals("all") ? BugCase.values() : List.of(find(word));
    List<Explored> all = new ArrayList<>();
    for (BugCase bug : cases) {
      Explored explored = explore(bug, seeds, nanos);
      all.add(explored);
      if (!common.json()) {
        print(explored, cases.size() == 1);
      }
    }
    if (common.json()) {
      Json.print(context, all.stream().map(CaseRunner::json).toList());
    }
    if (!all.stream().allMatch(Explored::isAsExpected)) {
      return ExitCode.FAILED;
    }
    return all.stream().allMatch(e -> e.isWhole(seeds)) ? ExitCode.OK : ExitCode.PARTIAL;
  }

  private static BugCase find(String word) throws UsageException {
    return BugCase.of(word)
        .orElseThrow(
            () ->
                UsageException.of(
                    "DB-U031",
                    "--case",
                    "no case '%s'%s".formatted(word, Nearest.suggestion(word, BugCase.words())),
                    "doorbell explore --case list"));
  }

  private Explored explore(BugCase bug, int seeds, long nanos) throws UsageException {
    Scenario broken = bug.scenario(laboratory.kernel(bug, false));
    return new Explored(
        bug,
        report(bug, broken, seeds, nanos / 2),
        report(bug, bug.scenario(laboratory.kernel(bug, true)), seeds, nanos / 2),
        bug.hides() ? report(bug, broken.with(Nic.DEFAULT), seeds, nanos / 2) : null);
  }

  private Explorer.Report report(BugCase bug, Scenario scenario, int seeds, long nanos)
      throws UsageException {
    try {
      return new Explorer(laboratory, scenario).explore(seeds, nanos);
    } catch (ScenarioException e) {
      throw new UsageException(
          Problem.of("DB-U020", bug.word(), String.valueOf(e.getMessage()))
              .effect("nothing was explored"));
    }
  }

  private void list() {
    if (common.json()) {
      Json.print(context, BugCase.values().stream().map(CaseRunner::describe).toList());
      return;
    }
    for (BugCase bug : BugCase.values()) {
      context.printf("%-20s %s%n", bug.word(), bug.summary());
    }
  }

  private void print(Explored explored, boolean whole) {
    PrintStream out = context.out();
    BugCase bug = explored.bug;
    out.printf(
        "%-20s broken: found in %d of %d   fixed: found in %d of %d   %s%s%n",
        bug.word(),
        explored.broken.found(),
        explored.broken.runs(),
        explored.fixed.found(),
        explored.fixed.runs(),
        explored.where(),
        explored.isAsExpected() ? "as expected" : "NOT AS EXPECTED");
    if (whole) {
      out.printf(
          "%ncase     %s%nsymptom  %s%nfix      %s%nafter    %s%nsource   kernels/cases/%s.cu%n",
          bug.summary(), bug.symptom(), bug.fix(), bug.sources(), bug.kernel());
      out.printf("%nbroken%s", ExploreReport.text(explored.broken));
      if (!explored.fixed.isClean()) {
        out.printf("%nfixed%s", ExploreReport.text(explored.fixed));
      }
    }
  }

  private static Map<String, Object> describe(BugCase bug) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("case", bug.word());
    json.put("summary", bug.summary());
    json.put("symptom", bug.symptom());
    json.put("fix", bug.fix());
    json.put("after", bug.sources());
    if (bug.hides()) {
      json.put("nic", bug.nic());
    }
    return json;
  }

  private static Map<String, Object> json(Explored explored) {
    Map<String, Object> json = describe(explored.bug);
    json.put("broken_runs", explored.broken.runs());
    json.put("broken_found", explored.broken.found());
    if (explored.hidden != null) {
      json.put("hidden_runs", explored.hidden.runs());
      json.put("hidden_found", explored.hidden.found());
    }
    json.put("fixed_runs", explored.fixed.runs());
    json.put("fixed_found", explored.fixed.found());
    json.put("as_expected", explored.isAsExpected());
    return json;
  }
}
