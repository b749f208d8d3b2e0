package dev.doorbell.softhca.wire;

import dev.doorbell.core.fabric.Fabric;
import dev.doorbell.core.fault.Fault;
import dev.doorbell.core.fault.FaultAction;
import dev.doorbell.core.fault.FaultCount;
import dev.doorbell.core.fault.FaultEvent;
import dev.doorbell.core.fault.FaultInjector;
import dev.doorbell.core.fault.FaultPlan;
import dev.doorbell.softhca.packet.Packet;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The faults of a plan that happen to packets, for a wire that leaves the process. What happens
 * inside of an HCA is not the wire's.
 */
public final class PlannedFaults implements WireFaults {
  private static final Set<FaultAction> ANYWHERE =
      EnumSet.of(FaultAction.LOSE, FaultAction.DUPLICATE, FaultAction.LINK_DOWN);
  private static final Set<FaultAction> LEAVING =
      EnumSet.of(FaultAction.CORRUPT, FaultAction.REORDER);
  private static final int ANY_QUEUE_PAIR = -1;

  private final Fabric fabric;
  private final FaultPlan plan;
  private final FaultInjector injector;
  private final boolean linkCanFail;

  /**
   * The plan as one device meets it.
   *
   * @param fabric whose clock the plan's times are on
   * @param rank see {@link FaultPlan#bind}
   * @throws IllegalArgumentException naming the first fault that cannot happen on a wire
   */
  public PlannedFaults(Fabric fabric, FaultPlan plan, int rank) {
    for (Fault fault : plan.faults()) {
      String objection = objection(fault);
      if (objection != null) {
        throw new IllegalArgumentException("'%s': %s".formatted(fault.text(), objection));
      }
    }
    this.fabric = fabric;
    this.plan = plan;
    this.injector = plan.bind(rank, 0, fabric.now());
    this.linkCanFail =
        plan.faults().stream().anyMatch(fault -> fault.action() == FaultAction.LINK_DOWN);
  }

  private static @Nullable String objection(Fault fault) {
    boolean leaving = fault.event() == FaultEvent.PACKET_SENT;
    if (!fault.event().isPacket()
        || !(ANYWHERE.contains(fault.action()) || (leaving && LEAVING.contains(fault.action())))) {
      return "a wire between processes can lose and duplicate packets, corrupt and reorder those"
          + " that it sends, and go down";
    }
    if (fault.target().queuePair() >= 0) {
      return "a wire does not know queue pairs; leave 'qp' out of the target";
    }
    if (fault.action() == FaultAction.REORDER && fault.number() > 1) {
      return "a wire lets one later packet pass; write 'by: 1'";
    }
    return null;
  }

  @Override
  public Fate fate(Packet packet, boolean leaving) {
    FaultEvent event = leaving ? FaultEvent.PACKET_SENT : FaultEvent.PACKET_RECEIVED;
    long now = fabric.now();
    Fault fault = injector.on(event, ANY_QUEUE_PAIR, packet.opcode, now);
    if (linkCanFail && injector.linkIsDown(now)) {
      return Fate.DROP;
    }
    if (fault == null) {
      return Fate.PASS;
    }
    return switch (fault.action()) {
      case DUPLICATE -> Fate.DUPLICATE;
      case CORRUPT -> Fate.CORRUPT;
      case REORDER -> Fate.SWAP;
      default -> Fate.DROP;
    };
  }

  /** How often each fault of the plan has happened here. Any thread; a moment old then. */
  public List<FaultCount> counts() {
    return FaultCount.total(plan, List.of(injector));
  }
}
