package dev.doorbell.verbs.device;

import dev.doorbell.core.hca.Errno;
import dev.doorbell.core.hca.HcaException;
import dev.doorbell.core.hca.QueuePairState;

/** The transitions of a queue pair that are the same for every device. */
public final class Transitions {
  private Transitions() {}

  /**
   * Refuses transitions that the specification does not have.
   *
   * @throws HcaException if {@code to} cannot follow {@code from}; nothing has changed then
   */
  public static void require(String queuePair, QueuePairState from, QueuePairState to) {
    boolean legal =
        switch (to) {
          case RESET -> true;
          case INIT -> from == QueuePairState.RESET;
          case RTR -> from == QueuePairState.INIT;
          case RTS -> from == QueuePairState.RTR;
          case ERR -> from != QueuePairState.RESET;
        };
    if (!legal) {
      throw new HcaException(
          "%s is in %s and cannot go to %s: %s"
              .formatted(
                  queuePair,
                  from,
                  to,
                  switch (to) {
                    case INIT -> "only from RESET; call toReset() first";
                    case RTR -> "only from INIT; call toInit() first";
                    case RTS -> "only from RTR; call toRtr() first";
                    default -> "there is nothing to stop; call toInit() first";
                  }),
          Errno.EINVAL);
    }
  }

  /** The state for a value of {@code enum ibv_qp_state}; a draining queue pair counts as RTS. */
  public static QueuePairState of(int verbsState) {
    return switch (verbsState) {
      case 0 -> QueuePairState.RESET;
      case 1 -> QueuePairState.INIT;
      case 2 -> QueuePairState.RTR;
      case 3, 4 -> QueuePairState.RTS;
      default -> QueuePairState.ERR;
    };
  }
}
