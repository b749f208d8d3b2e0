package dev.doorbell.experiments.cli.results;

import dev.doorbell.core.problem.Problem;
import dev.doorbell.core.problem.ProblemException;
import dev.doorbell.experiments.cli.command.CliCommand;
import dev.doorbell.experiments.cli.command.CommandContext;
import dev.doorbell.experiments.cli.command.ExitCode;
import dev.doorbell.experiments.cli.command.Percent;
import dev.doorbell.experiments.results.compare.ComparisonReport;
import dev.doorbell.experiments.results.compare.ResidualReport;
import dev.doorbell.experiments.results.compare.RunComparison;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
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
      "",
      "Exits with 5 on a regression, with 9 where too few samples leave a point",
      "undecided. docs/statistics.md explains every column.",
      ""
    })
public final class CompareCommand extends CliCommand {
  @Mixin private RunPlace place = new RunPlace();
  @Mixin private ComparisonOptions options = new ComparisonOptions();

  @Parameters(
      paramLabel = "RUN",
      arity = "2",
      description = "The run before and the run after: directory, name or tag.")
  private List<String> runs = new ArrayList<>();

  @Option(
      names = "--alpha",
      description = "Chance of a false alarm among all tests (default: ${DEFAULT-VALUE}).")
  private double alpha = 0.05;

  @Option(
      names = "--threshold",
      paramLabel = "SHARE",
      converter = Percent.class,
      description = "Changes of a median up to here are noise (default: 1%%).")
  private double threshold = 0.01;

  @Option(
      names = "--residuals",
      description =
          "How far the second run, a model, is off the first; they may be "
              + "measured and modelled. No tests, no verdicts.")
  private boolean residuals;

  @Override
  public ExitCode run(CommandContext context) throws ProblemException {
    RunComparison comparison =
        options.compare(place, runs.get(0), runs.get(1), alpha, threshold, residuals);
    if (residuals) {
      ResidualReport report = new ResidualReport(comparison);
      print(context, report::json, () -> report.text(common().quiet(), context.width()));
      return RunPlace.afterDamage(context, damage(comparison), ExitCode.OK);
    }
    ComparisonReport report = new ComparisonReport(comparison);
    print(context, report::json, () -> report.text(_ -> !common().quiet(), context.width()));
    return RunPlace.afterDamage(context, damage(comparison), ComparisonOptions.code(comparison));
  }

  static List<Problem> damage(RunComparison comparison) {
    return Stream.of(comparison.before(), comparison.after())
        .flatMap(run -> run.damage().stream())
        .toList();
  }
}
