package dev.doorbell.softhca;

import dev.doorbell.core.hca.HcaException;
import dev.doorbell.core.hca.QueuePairState;

/** Says which transitions of a queue pair there are to who has asked for another one. */
final class StateChecks {
  private StateChecks() {}

  static HcaException illegal(SoftQueuePair queuePair, QueuePairState to, String call) {
    String fix =
        switch (to) {
          case INIT -> "only from RESET; call toReset() first";
          case RTR -> "only from INIT; call toInit() before it";
          case RTS -> "only from RTR; call toRtr() before it";
          case ERR -> "from any state but RESET; a queue pair in RESET has nothing to flush";
          case RESET -> "from any state";
        };
    return new HcaException(
        "%s: queue pair 0x%x of %s is in %s and cannot go to %s: %s"
            .formatted(call, queuePair.number(), queuePair.hca.name(), queuePair.state(), to, fix),
        HcaErrno.EINVAL);
  }
}
