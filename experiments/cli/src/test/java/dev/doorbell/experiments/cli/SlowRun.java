package dev.doorbell.experiments.cli;

import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.plan.PointFailure;
import dev.doorbell.experiments.run.FakeRuntime;

/** A process of its own in which the first points end at once and the others only when told to. */
final class SlowRun {
  private SlowRun() {}

  public static void main(String[] arguments) {
    FakeRuntime runtime = new FakeRuntime();
    runtime.runner =
        (point, context) -> {
          while (point.index() >= 3) {
            if (context.cancelled()) {
              throw new PointFailure(
                  PointFailure.Kind.CANCELLED, Problem.of("DB-P003", point.id(), "stopped"));
            }
            try {
              Thread.sleep(5);
            } catch (InterruptedException e) {
              throw new AssertionError(e);
            }
          }
          return FakeRuntime.result(point);
        };
    System.exit(ToolLauncher.run(() -> runtime, arguments));
  }
}
