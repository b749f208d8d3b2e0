package dev.doorbell.experiments.scenario.kind;

import dev.doorbell.core.fabric.timed.machine.Topology;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.plan.Prediction;
import java.util.List;
import java.util.Set;

/** A family whose points run one kernel, with nothing beside it. */
public abstract class KernelFamily implements PointFamily {
  private final String kernel;
  private final String code;
  private final String reason;
  private final Set<String> settings;
  private final Set<String> metrics;

  /**
   * A family.
   *
   * @param kernel that makes a point one of these
   * @param code of the problems that its points may have
   * @param reason why no kernel stands beside it
   * @param settings as {@link #settings()} has them
   * @param metrics as {@link #metrics()} has them
   */
  protected KernelFamily(
      String kernel, String code, String reason, Set<String> settings, Set<String> metrics) {
    this.kernel = kernel;
    this.code = code;
    this.reason = reason;
    this.settings = settings;
    this.metrics = metrics;
  }

  @Override
  public final String asked() {
    return "kernel: " + kernel;
  }

  @Override
  public final boolean takes(Point point) {
    return point.kernels().contains(kernel);
  }

  @Override
  public final Set<String> settings() {
    return settings;
  }

  @Override
  public final Set<String> metrics() {
    return metrics;
  }

  @Override
  public final void check(Point point, Topology topology, List<Problem> problems) {
    if (point.kernels().size() > 1) {
      problems.add(
          Problem.of(code, point.id(), kernel + " beside other kernels")
              .effect(reason)
              .fix("give it an experiment of its own"));
    }
    check(point, problems);
  }

  /** Says what is impossible about a point of the kernel, wherever it is placed. */
  protected abstract void check(Point point, List<Problem> problems);

  /** Adds a problem of a point. */
  protected final void refuse(Point point, List<Problem> problems, String what, String fix) {
    problems.add(Problem.of(code, point.id(), what).fix(fix));
  }

  /** None: most such points are asked what no closed form says. */
  @Override
  public Prediction predict(Point point, Topology topology) {
    return Prediction.none();
  }
}
