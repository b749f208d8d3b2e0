package dev.doorbell.experiments.cli.explore;

import dev.doorbell.core.adapter.Adapter;
import dev.doorbell.core.fabric.explore.model.Policy;
import dev.doorbell.experiments.cli.command.ExitCode;
import dev.doorbell.experiments.results.print.JUnitXml;
import dev.doorbell.experiments.results.print.JUnitXml.Outcome;
import dev.doorbell.experiments.results.print.Units;
import dev.doorbell.experiments.workbench.explore.Explorer;
import dev.doorbell.experiments.workbench.programs.ExploredRuns;
import dev.doorbell.experiments.workbench.programs.ExploredRuns.Run;
import java.util.ArrayList;
import java.util.List;

/** Runs of a whole program against the adversary, and their report. */
public final class ExploredProgram {
  private static final String PROGRAM = "a program";

  private final ExploredRuns exploration;
  private final Explorer.Findings findings = new Explorer.Findings();

  public ExploredProgram(Policy policy, Adapter adapter) {
    exploration = new ExploredRuns(policy, adapter);
  }

  /** Begins a run. */
  public Run begin(long seed) {
    return exploration.begin(seed);
  }

  /** Counts the findings of a run, once the program has ended. */
  public void ended(Run run, long seed, int status) {
    findings.add(run.outcome(status), PROGRAM, seed);
  }

  /** The verdict on all runs. */
  public ExitCode verdict() {
    Explorer.Report report = findings.report();
    if (!report.isClean()) {
      return ExitCode.COUNTER_EXAMPLE;
    }
    return hasKernels() && report.coverage().isWhole() ? ExitCode.OK : ExitCode.NOT_COVERED;
  }

  private boolean hasKernels() {
    return findings.report().instructions() > 0;
  }

  private String words() {
    Explorer.Report report = findings.report();
    String runs = Units.count(report.runs(), "run");
    if (!hasKernels()) {
      return "no finding in %s; no kernel ran".formatted(runs);
    }
    CoverageReport coverage = new CoverageReport(report.coverage());
    return CoverageReport.verdict(coverage.isWhole(), runs, coverage.words());
  }

  /** The report. */
  public String text() {
    Explorer.Report report = findings.report();
    StringBuilder text = new StringBuilder();
    ExploreReport.findings(
        text, report, schedule -> "  again    --explore 1 --seed %d%n".formatted(schedule.seed()));
    text.append(
        "%n%s; %.3g M instructions; loads and stores of the host are not watched%n"
            .formatted(Units.count(report.runs(), "run"), report.instructions() / 1e6));
    text.append(report.isClean() ? "" : ExploreReport.count(report));
    if (hasKernels()) {
      text.append(new CoverageReport(report.coverage()).text());
    }
    return text.append(report.isClean() ? words() + "\n" : "").toString();
  }

  /** A test case for each finding, else one for the runs; and one for what was covered. */
  public List<JUnitXml.Case> cases() {
    Explorer.Report report = findings.report();
    List<JUnitXml.Case> cases = new ArrayList<>();
    report
        .races()
        .forEach(
            found -> cases.add(failed("race", found.what().key(), found.what().kind().what())));
    report
        .failures()
        .forEach(found -> cases.add(failed("failure", found.what().key(), found.what().text())));
    if (cases.isEmpty()) {
      cases.add(new JUnitXml.Case("runs", Units.count(report.runs(), "run"), Outcome.PASSED, ""));
    }
    boolean covered = hasKernels() && report.coverage().isWhole();
    cases.add(
        new JUnitXml.Case(
            "coverage", "covered", covered ? Outcome.PASSED : Outcome.UNDECIDED, words()));
    return cases;
  }

  private static JUnitXml.Case failed(String what, String key, String text) {
    return new JUnitXml.Case(what, key, Outcome.FAILED, text);
  }
}
