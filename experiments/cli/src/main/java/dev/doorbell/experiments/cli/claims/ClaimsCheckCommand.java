package dev.doorbell.experiments.cli.claims;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.core.problem.EnvironmentException;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.cli.claims.ClaimsCommand.ClaimsSelection;
import dev.doorbell.experiments.cli.command.CliCommand;
import dev.doorbell.experiments.cli.command.CommandContext;
import dev.doorbell.experiments.cli.command.ExitCode;
import dev.doorbell.experiments.cli.command.JUnitOption;
import dev.doorbell.experiments.cli.command.Json;
import dev.doorbell.experiments.cli.command.UsageException;
import dev.doorbell.experiments.cli.plan.ExperimentFiles;
import dev.doorbell.experiments.cli.plan.PlanChecks;
import dev.doorbell.experiments.config.ExperimentConfig;
import dev.doorbell.experiments.config.formula.Formula;
import dev.doorbell.experiments.config.formula.Formula.FormulaException;
import dev.doorbell.experiments.plan.Environment;
import dev.doorbell.experiments.plan.ExperimentRuntime;
import dev.doorbell.experiments.plan.Plan;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.plan.PointFailure;
import dev.doorbell.experiments.plan.PointResult;
import dev.doorbell.experiments.plan.Prediction;
import dev.doorbell.experiments.plan.Samples;
import dev.doorbell.experiments.results.claims.Claim;
import dev.doorbell.experiments.results.claims.ClaimChecker;
import dev.doorbell.experiments.results.claims.ClaimChecker.Finding;
import dev.doorbell.experiments.results.claims.RunNames;
import dev.doorbell.experiments.results.print.JUnitXml;
import dev.doorbell.experiments.run.MetricRow;
import dev.doorbell.experiments.run.PointWorkers;
import dev.doorbell.experiments.run.RunData;
import dev.doorbell.experiments.run.SummaryRow;
import dev.doorbell.experiments.workbench.explore.Laboratory;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.Queue;
import java.util.SequencedMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@CommandLine.Command(
    header = {
      "Tests claims here: by closed forms, by experiments that it runs, by exploring bug cases.",
      "",
      "  doorbell claims check",
      "  doorbell claims check H4 H7",
      "  doorbell claims check --junit claims.xml",
      "  doorbell claims check --ledger papers/pull-vs-push/claims.yaml",
      "",
      "Exits with 6 when a claim is not reproduced for no known reason, with 77 when none could be",
      "tested.",
      ""
    })
final class ClaimsCheckCommand extends CliCommand {
  @Mixin private ClaimsSelection selection = new ClaimsSelection();

  @Mixin private JUnitOption junit = new JUnitOption();

  @Option(names = "--strict", description = "A known reason does not excuse a claim.")
  private boolean strict;

  @Override
  public ExitCode run(CommandContext context) throws UsageException, ConfigException {
    List<Claim> claims = selection.claims();
    ClaimChecker checker = new ClaimChecker(new ClaimRuns(context), Laboratory::find);
    PrintStream out = context.out();
    List<Finding> findings = new ArrayList<>();
    for (Claim claim : claims) {
      Finding finding = checker.check(claim);
      findings.add(finding);
      if (!common().json() && !common().quiet()) {
        out.printf("%-20s %-17s %s%n", claim.id(), finding.verdict().text(), claim.statement());
        out.printf(
            "%-20s %s, %s: %s%n",
            "", claim.method().name().toLowerCase(Locale.ROOT), claim.basis(), finding.why());
        remark(finding).ifPresent(remark -> out.printf("%-20s %s%n", "", remark));
      }
    }
    ExitCode code = code(findings);
    junit.write("doorbell claims", findings.stream().map(this::testCase).toList());
    if (common().json()) {
      Json.print(context, new Report(code.status(), findings.stream().map(Reported::of).toList()));
    } else {
      out.printf(
          "%d reproduced on the model, %d true of published numbers by arithmetic, %d not"
              + " reproduced, %d not testable here%n",
          ClaimChecker.count(findings, Finding.Verdict.REPRODUCED) - arithmetic(findings),
          arithmetic(findings),
          ClaimChecker.count(findings, Finding.Verdict.NOT_REPRODUCED),
          ClaimChecker.count(findings, Finding.Verdict.NOT_TESTABLE));
      out.println(
          "MODELLED unless it says measured: what a model reproduces is not thereby true of an"
              + " HCA");
    }
    return code;
  }

  private JUnitXml.Case testCase(Finding finding) {
    JUnitXml.Outcome outcome =
        switch (finding.verdict()) {
          case REPRODUCED -> JUnitXml.Outcome.PASSED;
          case NOT_TESTABLE -> JUnitXml.Outcome.SKIPPED;
          case NOT_REPRODUCED ->
              excused(finding) ? JUnitXml.Outcome.SKIPPED : JUnitXml.Outcome.FAILED;
        };
    return new JUnitXml.Case(
        finding.claim().method().name().toLowerCase(Locale.ROOT),
        finding.claim().id() + ": " + finding.claim().statement(),
        outcome,
        finding.why() + remark(finding).map(remark -> "; " + remark).orElse(""));
  }

  private boolean excused(Finding finding) {
    return !strict && !finding.claim().known().isEmpty();
  }

  /** Claims that hold among published numbers, which says nothing about the model. */
  private static long arithmetic(List<Finding> findings) {
    return findings.stream()
        .filter(finding -> finding.verdict() == Finding.Verdict.REPRODUCED)
        .filter(finding -> finding.claim().method() == Claim.Method.ARITHMETIC)
        .count();
  }

  /** The ledger's value, or the error in it. */
  private static Optional<String> remark(Finding finding) {
    String known = finding.claim().known();
    return known.isEmpty() || finding.verdict() == Finding.Verdict.NOT_TESTABLE
        ? Optional.empty()
        : Optional.of(
            finding.verdict() == Finding.Verdict.REPRODUCED
                ? "though the ledger says why it should not be: " + known
                : "known: " + known);
  }

  private ExitCode code(List<Finding> findings) {
    if (findings.stream()
        .filter(finding -> finding.verdict() == Finding.Verdict.NOT_REPRODUCED)
        .anyMatch(finding -> !excused(finding))) {
      return ExitCode.CLAIM;
    }
    return ClaimChecker.count(findings, Finding.Verdict.REPRODUCED) > 0
        ? ExitCode.OK
        : ExitCode.WAIVED;
  }

  /** A finding for programs. */
  private record Reported(
      String id,
      String claim,
      String method,
      String basis,
      String source,
      String verdict,
      @JsonInclude(JsonInclude.Include.NON_ABSENT) OptionalDouble value,
      String why,
      @JsonInclude(JsonInclude.Include.NON_EMPTY) String known) {
    static Reported of(Finding finding) {
      Claim claim = finding.claim();
      return new Reported(
          claim.id(),
          claim.statement(),
          claim.method().name().toLowerCase(Locale.ROOT),
          claim.basis(),
          claim.source(),
          finding.verdict().name().toLowerCase(Locale.ROOT),
          finding.value(),
          finding.why(),
          claim.known());
    }
  }

  private record Report(int exit, List<Reported> claims) {}

  /** Runs experiments for claims, in memory: what is kept is the finding. */
  static final class ClaimRuns implements ClaimChecker.Experiments {
    private final CommandContext context;

    ClaimRuns(CommandContext context) {
      this.context = context;
    }

    @Override
    public Formula.Lookup run(String experiment, SequencedMap<String, String> set)
        throws FormulaException, EnvironmentException {
      ExperimentRuntime runtime = context.runtime().get();
      Plan plan = plan(runtime, experiment, set);
      ExperimentConfig config = plan.config();
      Environment environment =
          runtime.choose(new Environment.Request(config.gpu(), config.hca(), config.clock()));
      Map<String, SummaryRow> rows = new ConcurrentHashMap<>();
      Queue<Problem> failures = new ConcurrentLinkedQueue<>();
      try {
        PointWorkers.ofMachine(context.interruption())
            .run(plan.points(), runtime.runner(environment))
            .forEach(
                (point, ending) -> {
                  switch (ending) {
                    case PointWorkers.Ending.Done(PointResult result) ->
                        rows.put(point.id(), row(point, result, runtime.predict(point)));
                    case PointWorkers.Ending.Failed(PointFailure failure) ->
                        failures.add(failure.problem());
                  }
                });
      } catch (InterruptedException _) {
        Thread.currentThread().interrupt();
        throw new FormulaException("interrupted");
      }
      if (rows.isEmpty()) {
        String why = failures.isEmpty() ? "" : ": " + failures.element().what();
        throw new FormulaException("no point gave a result" + why);
      }
      List<SummaryRow> ordered =
          plan.points().stream().flatMap(p -> Stream.ofNullable(rows.get(p.id()))).toList();
      RunData data = RunData.of("claim", config, Optional.empty(), environment.basis(), ordered);
      return new RunNames(data, plan.points().size(), ordered.size());
    }

    private static SummaryRow row(Point point, PointResult result, Prediction prediction) {
      SequencedMap<String, MetricRow> metrics = new LinkedHashMap<>();
      for (Samples samples : result.samples()) {
        metrics.put(samples.metric(), new MetricRow(samples, prediction.of(samples.metric())));
      }
      return new SummaryRow(point.id(), point.axes(), metrics, result.counters(), point.seed());
    }

    private Plan plan(ExperimentRuntime runtime, String experiment, Map<String, String> set)
        throws FormulaException {
      List<String> overrides =
          set.entrySet().stream().map(e -> e.getKey() + "=" + e.getValue()).toList();
      try {
        Plan plan = Plan.of(ExperimentFiles.read(context, experiment, overrides));
        PlanChecks.demand(experiment, plan, runtime);
        return plan;
      } catch (ConfigException e) {
        throw new FormulaException(
            "the experiment cannot be run so: " + problem(e.problems().getFirst()));
      } catch (UsageException e) {
        throw new FormulaException(problem(e.problem()));
      }
    }

    private static String problem(Problem problem) {
      return "%s %s".formatted(problem.code(), problem.what());
    }
  }
}
