package dev.doorbell.interop.shim;

import dev.doorbell.core.adapter.Adapter;
import dev.doorbell.core.fault.Fault;
import dev.doorbell.core.fault.FaultAction;
import dev.doorbell.core.fault.FaultEvent;
import dev.doorbell.core.fault.FaultPlan;
import dev.doorbell.core.fault.FaultTrigger;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/** A server in a process of its own, which can be stopped and killed: {@code FOLDER SEED PLAN}. */
final class ServedProcess {
  private static final long MILLI = 1_000_000;

  private ServedProcess() {}

  /** Faults of the link between the devices. */
  enum Plan {
    NOTHING,
    /** Packets are lost, doubled and passed by others, and three partitions heal in time. */
    HEALED,
    /** A partition that outlasts all retries. */
    PARTED,
    /** Payload is written after what is behind it: no rule of order holds. */
    RELAXED;

    private FaultPlan of(long seed) {
      return new FaultPlan(
          seed,
          switch (this) {
            case NOTHING -> List.of();
            case HEALED ->
                List.of(
                    packets(FaultAction.LOSE),
                    packets(FaultAction.DUPLICATE),
                    packets(FaultAction.REORDER).with(2),
                    linkDown(new FaultTrigger(500, Long.MAX_VALUE, 1500, 1, 0, 3), 40));
            case PARTED -> List.of(linkDown(FaultTrigger.at(3000), 10_000));
            case RELAXED ->
                List.of(
                    Fault.of(
                            FaultAction.RELAXED_ORDERING,
                            FaultEvent.PAYLOAD,
                            FaultTrigger.chance(0.2))
                        .lasting(5 * MILLI));
          });
    }

    private static Fault packets(FaultAction action) {
      return Fault.of(action, FaultEvent.PACKET_SENT, FaultTrigger.chance(0.02));
    }

    private static Fault linkDown(FaultTrigger when, long millis) {
      return Fault.of(FaultAction.LINK_DOWN, FaultEvent.PACKET_SENT, when).lasting(millis * MILLI);
    }
  }

  public static void main(String[] words) throws IOException {
    FaultPlan plan = Plan.valueOf(words[2]).of(Long.parseLong(words[1]));
    ShimOptions options = new ShimOptions(1, List.of(), Adapter.DEFAULT, plan, null);
    try (ShimServer server = new ShimServer(Path.of(words[0]), options)) {
      long before = System.currentTimeMillis();
      System.out.println(System.currentTimeMillis() < before ? "its clock goes back" : "ready");
      server.run(() -> false);
    }
  }
}
