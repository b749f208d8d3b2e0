package dev.doorbell.experiments.cli.run;

import dev.doorbell.experiments.cli.command.CommandContext;
import dev.doorbell.experiments.cli.command.ExitCode;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.plan.PointContext;
import dev.doorbell.experiments.plan.PointFailure;
import dev.doorbell.experiments.plan.PointResult;
import dev.doorbell.experiments.plan.PointRunner;
import java.io.PrintStream;
import java.util.List;

/**
 * The part of an experiment's second process: it runs the points that the first one runs, checks
 * what arrives, and keeps nothing, for the samples are the first one's.
 */
final class FollowedRun implements PointContext {
  private final CommandContext around;
  private final PointRunner runner;
  private final boolean quiet;

  FollowedRun(CommandContext around, PointRunner runner, boolean quiet) {
    this.around = around;
    this.runner = runner;
    this.quiet = quiet;
  }

  ExitCode run(List<Point> points) {
    PrintStream print = around.terminal().out();
    ExitCode code = ExitCode.OK;
    for (Point point : points) {
      if (cancelled()) {
        return ExitCode.INTERRUPTED;
      }
      try {
        PointResult result = runner.run(point, this);
        if (!quiet) {
          print.printf("%s: %,d bytes right%n", point.id(), result.verifiedBytes());
        }
      } catch (PointFailure e) {
        if (!quiet) {
          print.println(e.problem().text());
        }
        code = e.kind() == PointFailure.Kind.WAIVED ? code : ExitCode.FAILED;
      }
    }
    return code;
  }

  @Override
  public boolean cancelled() {
    return around.interruption().requested();
  }

  @Override
  public void log(String line) {
    // There is no run directory here.
  }
}
