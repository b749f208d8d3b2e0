package dev.doorbell.experiments.scenario.kind;

import dev.doorbell.core.adapter.Promises;
import dev.doorbell.core.queue.SignalOrder;

/** What makes signals come behind their data: {@code signal}. */
public enum SignalName {
  AUTO,
  NONE,
  STRICT_KEY,
  PACKED,
  ATOMIC,
  READ_FLUSH,
  FENCE_BIT,
  ACKNOWLEDGED;

  /** Returns what it is on HCAs with these promises. */
  public SignalOrder on(Promises promises) {
    return this == AUTO ? SignalOrder.of(promises) : SignalOrder.valueOf(name());
  }

  /** Refuses what does not order signals on an adapter. */
  public void check(AdapterName nic, Checks checks) {
    Promises promises = nic.adapter().promises();
    SignalOrder order = on(promises);
    checks
        .code("DB-P051")
        .refuseIf(
            !order.suffices(promises),
            "signal %s on nic %s".formatted(order.word(), nic.adapter()),
            "a signal could be seen before its data",
            "use signal: auto, which is %s here".formatted(SignalOrder.of(promises).word()));
  }
}
