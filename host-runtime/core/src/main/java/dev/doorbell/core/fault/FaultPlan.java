package dev.doorbell.core.fault;

import java.util.List;

/**
 * The faults of a world, in the order of their file: of several that are due at one event, the
 * first happens.
 *
 * @param seed decides what is left to chance; each fault draws from a sequence of its own, so that
 *     one more fault in the plan does not change when the others happen
 */
public record FaultPlan(long seed, List<Fault> faults) {
  /** Nothing goes wrong. */
  public static final FaultPlan NONE = new FaultPlan(0, List.of());

  public FaultPlan {
    faults = List.copyOf(faults);
  }

  /**
   * The same faults, with chances of their own: transfers that each begin anew would otherwise meet
   * the same ones at the same packets.
   */
  public FaultPlan forTransfer(long transfer) {
    return new FaultPlan(FaultInjector.mix(seed ^ FaultInjector.mix(transfer)), faults);
  }

  /** The plan as one device meets it. */
  public FaultInjector bind(int rank, int device, long nowNanos) {
    return new FaultInjector(this, rank, device, nowNanos);
  }
}
