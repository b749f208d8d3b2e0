package dev.doorbell.experiments.cli.explore;

import dev.doorbell.core.adapter.Adapter;
import dev.doorbell.core.fabric.explore.Coverage;
import dev.doorbell.core.fabric.explore.model.Policy;
import dev.doorbell.experiments.cli.command.ExitCode;
import dev.doorbell.experiments.cli.command.Show;
import dev.doorbell.experiments.results.print.JUnitXml;
import dev.doorbell.experiments.results.print.JUnitXml.Outcome;
import dev.doorbell.experiments.workbench.explore.Failure;
import dev.doorbell.experiments.workbench.explore.Race;
import dev.doorbell.experiments.workbench.programs.ProgramWorlds;
import dev.doorbell.experiments.workbench.programs.ProgramWorlds.Exploration;
import dev.doorbell.experiments.workbench.programs.ProgramWorlds.Run;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Runs of a whole program against the adversary, and their report. */
public final class ExploredProgram {
  private static final int SHOWN = 8;

  private final Exploration exploration;
  private final Coverage coverage = new Coverage();
  private final Map<String, Found<Race>> races = new LinkedHashMap<>();
  private final Map<String, Found<Failure>> failures = new LinkedHashMap<>();

  private int runs;
  private int runsWithFindings;
  private long instructions;

  /** A finding, the first seed that showed it, and the number of runs that did. */
  private record Found<T>(T what, long seed, int runs) {
    Found<T> merge(Found<T> other) {
      return new Found<>(what, seed, runs + other.runs);
    }
  }

  public ExploredProgram(Policy policy, Adapter adapter) {
    exploration = ProgramWorlds.find().exploring(policy, adapter);
  }

  /** Begins a run. */
  public Run begin(long seed) {
    return exploration.begin(seed);
  }

  /** Counts the findings of a run, once the program has ended. */
  public void ended(Run run, long seed, int status) {
    runs++;
    List<Failure> failed = new ArrayList<>(run.failures());
    if (status != 0) {
      failed.add(Failure.status("exit status " + status, "the program"));
    }
    Map<String, Race> seen = new LinkedHashMap<>();
    run.races().forEach(race -> seen.putIfAbsent(race.key(), race));
    coverage.add(run.coverage());
    instructions += run.instructions();
    seen.forEach((key, race) -> races.merge(key, new Found<>(race, seed, 1), Found::merge));
    if (!failed.isEmpty()) {
      Failure first = failed.getFirst();
      failures.merge(first.key(), new Found<>(first, seed, 1), Found::merge);
    }
    runsWithFindings += seen.isEmpty() && failed.isEmpty() ? 0 : 1;
  }

  private boolean isFound() {
    return runsWithFindings > 0;
  }

  /** The verdict on all runs. */
  public ExitCode verdict() {
    if (isFound()) {
      return ExitCode.COUNTER_EXAMPLE;
    }
    return hasKernels() && coverage.isWhole() ? ExitCode.OK : ExitCode.NOT_COVERED;
  }

  private boolean hasKernels() {
    return instructions > 0;
  }

  private String words() {
    String found = Show.count(runs, "run");
    if (!hasKernels()) {
      return "no finding in %s; no kernel ran".formatted(found);
    }
    String covered = new CoverageReport(coverage).words();
    return coverage.isWhole()
        ? "CLEAN: nothing found in %s, with %s. That is evidence, not a proof."
            .formatted(found, covered)
        : "no finding in %s; %s".formatted(found, covered);
  }

  /** The report. */
  public String text() {
    StringBuilder text = new StringBuilder();
    races.values().stream()
        .limit(SHOWN)
        .forEach(
            found -> {
              text.append(
                  "%nCOUNTER-EXAMPLE  %s   in %d of %s%n"
                      .formatted(found.what.kind().what(), found.runs, Show.count(runs, "run")));
              ExploreReport.race(text, found.what);
              text.append("  again    --explore 1 --seed %d%n".formatted(found.seed));
            });
    if (races.size() > SHOWN) {
      text.append("%nand %d more races; --junit lists all%n".formatted(races.size() - SHOWN));
    }
    failures.forEach(
        (key, found) ->
            text.append(
                "%n%s  %s   in %d of %s%n  again    --explore 1 --seed %d%n"
                    .formatted(
                        found.what.kind().verdict(),
                        found.what.text().strip(),
                        found.runs,
                        Show.count(runs, "run"),
                        found.seed)));
    text.append(
        "%n%s; %.3g M instructions; loads and stores of the host are not watched%n"
            .formatted(Show.count(runs, "run"), instructions / 1e6));
    if (isFound()) {
      text.append(
          "%s, findings in %d of %s%n"
              .formatted(
                  Show.count(races.size(), "race"), runsWithFindings, Show.count(runs, "run")));
    }
    if (hasKernels()) {
      text.append(new CoverageReport(coverage).text());
    }
    return text.append(isFound() ? "" : words() + "\n").toString();
  }

  /** A test case for each finding, else one for the runs; and one for what was covered. */
  public List<JUnitXml.Case> cases() {
    List<JUnitXml.Case> cases = new ArrayList<>();
    races.forEach(
        (key, found) ->
            cases.add(new JUnitXml.Case("race", key, Outcome.FAILED, found.what.kind().what())));
    failures.forEach(
        (key, found) ->
            cases.add(new JUnitXml.Case("failure", key, Outcome.FAILED, found.what.text())));
    if (cases.isEmpty()) {
      cases.add(new JUnitXml.Case("runs", Show.count(runs, "run"), Outcome.PASSED, ""));
    }
    boolean covered = hasKernels() && coverage.isWhole();
    cases.add(
        new JUnitXml.Case(
            "coverage", "covered", covered ? Outcome.PASSED : Outcome.UNDECIDED, words()));
    return cases;
  }
}
