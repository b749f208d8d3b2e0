package dev.doorbell.core.fault;

import java.util.ArrayList;
import java.util.List;

/**
 * Counts how often a fault of a plan happened.
 *
 * @param events of its kind, opcode and target that were seen
 * @param fired how many of them it struck
 */
public record FaultCount(Fault fault, long events, long fired) {

  /** True when the fault had to happen and did not. */
  public boolean missed() {
    return fault.mustFire() && fired == 0;
  }

  /**
   * The counts of several devices under one plan, added up; in the order of the plan, also those
   * faults that no device was meant by.
   */
  public static List<FaultCount> total(FaultPlan plan, List<FaultInjector> devices) {
    List<FaultCount> counts = new ArrayList<>();
    for (int i = 0; i < plan.faults().size(); i++) {
      long events = 0;
      long fired = 0;
      for (FaultInjector device : devices) {
        events += device.events(i);
        fired += device.fired(i);
      }
      counts.add(new FaultCount(plan.faults().get(i), events, fired));
    }
    return counts;
  }
}
