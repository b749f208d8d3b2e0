package dev.doorbell.experiments.cli.results;

import dev.doorbell.core.problem.Nearest;
import dev.doorbell.core.problem.ProblemException;
import dev.doorbell.experiments.cli.command.ExitCode;
import dev.doorbell.experiments.cli.command.UsageException;
import dev.doorbell.experiments.results.compare.RunComparison;
import dev.doorbell.experiments.results.compare.RunComparison.Rules;
import dev.doorbell.experiments.run.RunIndex;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import picocli.CommandLine.Option;

/** Options that {@code compare} and {@code gate} share. */
final class ComparisonOptions {
  @Option(
      names = "--metric",
      paramLabel = "METRIC",
      split = ",",
      description = "Compare these alone (default: every sampled metric of both).")
  private List<String> metrics = new ArrayList<>();

  static ExitCode code(RunComparison comparison) {
    return switch (comparison.overall()) {
      case REGRESSED -> ExitCode.REGRESSION;
      case UNDECIDED -> ExitCode.UNDECIDED;
      case NO_CHANGE, WITHIN_NOISE, IMPROVED -> ExitCode.OK;
    };
  }

  RunComparison compare(RunPlace place, String before, String after, double alpha, double threshold)
      throws ProblemException {
    return compare(place, before, after, alpha, threshold, false);
  }

  RunComparison compare(
      RunPlace place,
      String before,
      String after,
      double alpha,
      double threshold,
      boolean residuals)
      throws ProblemException {
    if (!(alpha > 0 && alpha < 1)) {
      throw UsageException.wrong("--alpha", "it is a probability, above 0 and below 1");
    }
    RunIndex first = RunIndex.read(place.find(before));
    RunIndex second = RunIndex.read(place.find(after));
    for (String metric : metrics) {
      List<String> known = first.plan().config().measure().metrics();
      if (!known.contains(metric)) {
        throw UsageException.wrong(
            "--metric",
            "%s has no metric '%s'%s"
                .formatted(first.id(), metric, Nearest.suggestion(metric, known)),
            "it has " + String.join(", ", known));
      }
    }
    Rules rules = new Rules(Set.copyOf(metrics), alpha, threshold);
    return residuals
        ? RunComparison.matched(first, second, rules)
        : RunComparison.of(first, second, rules);
  }
}
