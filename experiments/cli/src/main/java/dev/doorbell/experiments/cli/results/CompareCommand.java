package dev.doorbell.experiments.cli.results;

import dev.doorbell.core.problem.Nearest;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.core.problem.ProblemException;
import dev.doorbell.experiments.cli.command.CliCommand;
import dev.doorbell.experiments.cli.command.CommandContext;
import dev.doorbell.experiments.cli.command.ExitCode;
import dev.doorbell.experiments.cli.command.JUnitOption;
import dev.doorbell.experiments.cli.command.Json;
import dev.doorbell.experiments.cli.command.Percent;
import dev.doorbell.experiments.cli.command.UsageException;
import dev.doorbell.experiments.results.compare.ChangeVerdict;
import dev.doorbell.experiments.results.compare.ComparisonReport;
import dev.doorbell.experiments.results.compare.PointComparison;
import dev.doorbell.experiments.results.compare.ResidualReport;
import dev.doorbell.experiments.results.compare.RunComparison;
import dev.doorbell.experiments.results.compare.RunComparison.Rules;
import dev.doorbell.experiments.results.print.Units;
import dev.doorbell.experiments.run.RunIndex;
import java.util.ArrayList;
import java.util.List;
import java.util.SequencedMap;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@CommandLine.Command(
    header = {
      "Says what changed from one run to another, point by point.",
      "",
      "  doorbell compare main fast-doorbell                  two tags, see run --tag",
      "  doorbell compare runs/2026... runs/2026... --metric latency",
      "  doorbell compare main fast-doorbell --threshold 2%% --json",
      "  doorbell compare main nightly --gate --junit gate.xml  for continuous integration",
      "",
      "Exits with 5 on a regression, with 9 where too few samples leave a point",
      "undecided, with --gate with 1 where points are missing. docs/statistics.md",
      "explains every column.",
      ""
    })
public final class CompareCommand extends CliCommand {
  @Mixin private RunPlace place = new RunPlace();
  @Mixin private JUnitOption junit = new JUnitOption();

  @Parameters(
      paramLabel = "RUN",
      arity = "2",
      description = "The run before and the run after: directory, name or tag.")
  private List<String> runs = new ArrayList<>();

  @Option(
      names = "--metric",
      paramLabel = "METRIC",
      split = ",",
      description = "Compare these alone (default: every sampled metric of both).")
  private List<String> metrics = new ArrayList<>();

  @Option(
      names = "--alpha",
      description = "Chance of a false alarm among all tests (default: 0.05; of a gate 0.01).")
  private @Nullable Double alpha;

  @Option(
      names = "--threshold",
      paramLabel = "SHARE",
      converter = Percent.class,
      description = "Changes of a median up to here are noise (default: 1%%; of a gate 5%%).")
  private @Nullable Double threshold;

  @Option(
      names = "--gate",
      description = "Pass the second run if it is no worse than the first; print changes alone.")
  private boolean gate;

  @Option(
      names = "--residuals",
      description =
          "How far the second run, a model, is off the first; they may be "
              + "measured and modelled. No tests, no verdicts.")
  private boolean residuals;

  @Override
  public ExitCode run(CommandContext context) throws ProblemException {
    RunComparison comparison = compare();
    List<Problem> damage =
        Stream.of(comparison.before(), comparison.after())
            .flatMap(run -> run.damage().stream())
            .toList();
    if (residuals) {
      ResidualReport report = new ResidualReport(comparison);
      print(context, report::json, () -> report.text(common().quiet(), context.width()));
      return RunPlace.afterDamage(context, damage, ExitCode.OK);
    }
    ExitCode code = RunPlace.afterDamage(context, damage, code(comparison));
    ComparisonReport report = new ComparisonReport(comparison);
    String suite = gate ? "doorbell gate " : "doorbell compare ";
    junit.write(suite + comparison.after().plan().config().name(), report.cases());
    if (common().json()) {
      SequencedMap<String, Object> json = report.json();
      if (gate) {
        json.put("passed", code == ExitCode.OK);
        json.put("exit", code.status());
      }
      Json.print(context, json);
      return code;
    }
    if (!gate || !common().quiet()) {
      context.out().print(report.text(this::isShown, context.width()));
    }
    if (gate) {
      context.println(text(code, comparison));
    }
    return code;
  }

  private boolean isShown(PointComparison point) {
    return gate
        ? common().verbose() || point.verdict().compareTo(ChangeVerdict.IMPROVED) >= 0
        : !common().quiet();
  }

  private RunComparison compare() throws ProblemException {
    double chance = alpha != null ? alpha : gate ? 0.01 : 0.05;
    double noise = threshold != null ? threshold : gate ? 0.05 : 0.01;
    if (!(chance > 0 && chance < 1)) {
      throw UsageException.wrong("--alpha", "it is a probability, above 0 and below 1");
    }
    RunIndex before = RunIndex.read(place.find(runs.get(0)));
    RunIndex after = RunIndex.read(place.find(runs.get(1)));
    for (String metric : metrics) {
      List<String> known = before.plan().config().measure().metrics();
      if (!known.contains(metric)) {
        throw UsageException.wrong(
            "--metric",
            "%s has no metric '%s'%s"
                .formatted(before.id(), metric, Nearest.suggestion(metric, known)),
            "it has " + String.join(", ", known));
      }
    }
    Rules rules = new Rules(Set.copyOf(metrics), chance, noise);
    return residuals
        ? RunComparison.matched(before, after, rules)
        : RunComparison.of(before, after, rules);
  }

  private ExitCode code(RunComparison comparison) {
    return switch (comparison.overall()) {
      case REGRESSED -> ExitCode.REGRESSION;
      case UNDECIDED -> isWhole(comparison) ? ExitCode.UNDECIDED : ExitCode.FAILED;
      case NO_CHANGE, WITHIN_NOISE, IMPROVED -> isWhole(comparison) ? ExitCode.OK : ExitCode.FAILED;
    };
  }

  /** A gate needs a result for every point of the first run. */
  private boolean isWhole(RunComparison comparison) {
    return !gate || comparison.onlyBefore().isEmpty();
  }

  private static String text(ExitCode code, RunComparison comparison) {
    return switch (code) {
      case OK -> "gate passed";
      case FAILED ->
          comparison.onlyBefore().isEmpty()
              ? "gate failed: a run is damaged"
              : "gate failed: no result for %s of the baseline"
                  .formatted(Units.count(comparison.onlyBefore().size(), "point"));
      case UNDECIDED -> "gate undecided: too few samples for a verdict";
      default -> "gate failed: regression";
    };
  }
}
