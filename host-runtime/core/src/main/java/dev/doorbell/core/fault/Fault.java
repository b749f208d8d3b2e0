package dev.doorbell.core.fault;

/**
 * One line of a fault plan.
 *
 * @param text as its author wrote it, for reports
 * @param action what goes wrong
 * @param event what it is tied to; one of {@link FaultAction#events}
 * @param target whom it is meant for
 * @param trigger when it happens
 * @param opcode of the packet (BTH) or the WQE (mlx5), or −1 for any
 * @param nanos how long, for the actions that last; else 0
 * @param number what the action needs: packets to be passed by, CQE syndrome, RNR timer code, path
 *     MTU in bytes; else 0
 * @param mustFire a run in which it never happened has failed
 */
public record Fault(
    String text,
    FaultAction action,
    FaultEvent event,
    FaultTarget target,
    FaultTrigger trigger,
    int opcode,
    long nanos,
    int number,
    boolean mustFire) {

  public Fault {
    if (!action.events().contains(event)) {
      throw new IllegalArgumentException(
          "'%s' cannot happen at a %s".formatted(action.word(), event.word()));
    }
  }

  /** A fault that strikes everybody. */
  public static Fault of(FaultAction action, FaultEvent event, FaultTrigger trigger) {
    return new Fault(action.word(), action, event, FaultTarget.ALL, trigger, -1, 0, 0, false);
  }

  /** The same, that lasts. */
  public Fault lasting(long forNanos) {
    return new Fault(text, action, event, target, trigger, opcode, forNanos, number, mustFire);
  }

  /** The same, with the number that its action needs. */
  public Fault with(int value) {
    return new Fault(text, action, event, target, trigger, opcode, nanos, value, mustFire);
  }

  /** The same, for somebody. */
  public Fault on(FaultTarget whom) {
    return new Fault(text, action, event, whom, trigger, opcode, nanos, number, mustFire);
  }

  /** The same, for one opcode. */
  public Fault onOpcode(int value) {
    return new Fault(text, action, event, target, trigger, value, nanos, number, mustFire);
  }

  /** The same, without which a run has failed. */
  public Fault required() {
    return new Fault(text, action, event, target, trigger, opcode, nanos, number, true);
  }
}
