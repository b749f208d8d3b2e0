package dev.doorbell.experiments.scenario.kind;

import dev.doorbell.experiments.plan.Point;

/**
 * A kind whose points run one kernel, with no other kernel beside it.
 *
 * @param <S> the settings of its points, {@link Point} among them
 */
public abstract class KernelKind<S extends Record> extends ExperimentKind<S> {
  private final String kernel;
  private final String reason;

  /**
   * A kind.
   *
   * @param kernel that makes a point one of these
   * @param code of the problems that its points may have
   * @param reason why no kernel stands beside it
   * @param settings of its points
   * @param metrics that its points may have
   */
  protected KernelKind(
      String kernel, String code, String reason, Class<S> settings, String... metrics) {
    super("kernel: " + kernel, code, settings, metrics);
    this.kernel = kernel;
    this.reason = reason;
  }

  @Override
  public final boolean applies(Point point) {
    return point.kernels().contains(kernel);
  }

  /** Refuses other kernels beside this one. */
  protected final void checkAlone(Point point, Checks checks) {
    checks.refuseIf(
        point.kernels().size() > 1,
        kernel + " beside other kernels",
        reason,
        "give it an experiment of its own");
  }
}
