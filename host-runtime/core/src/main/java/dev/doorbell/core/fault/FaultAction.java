package dev.doorbell.core.fault;

import java.util.Set;

/** The misbehaviour that a fault causes. */
public enum FaultAction {
  /** The packet never arrives. */
  LOSE("lose", packets()),
  /** The packet arrives twice. */
  DUPLICATE("duplicate", packets()),
  /** Later packets pass this one: {@code by} of them. */
  REORDER("reorder", packets()),
  /** The packet, and all behind it on its wire, come {@code for} later. */
  DELAY("delay", packets()),
  /** One bit of the packet flips; the receiver's ICRC check throws it away. */
  CORRUPT("corrupt", packets()),
  /** The WQE is not executed; its CQE carries {@code syndrome} and the queue pair goes to ERR. */
  CQE_ERROR("cqe-error", Set.of(FaultEvent.WQE)),
  /** The queue pair goes to ERR as if the driver had asked for it. */
  QP_ERROR("qp-error", Set.of(FaultEvent.WQE, FaultEvent.PACKET_SENT, FaultEvent.PACKET_RECEIVED)),
  /** The doorbell, and those that follow {@code for} some time, are not seen; the record is. */
  DOORBELL_LOST("doorbell-lost", Set.of(FaultEvent.DOORBELL)),
  /** The doorbell is seen {@code for} later. */
  DOORBELL_LATE("doorbell-late", Set.of(FaultEvent.DOORBELL)),
  DOORBELL_TWICE("doorbell-twice", Set.of(FaultEvent.DOORBELL)),
  /** The doorbell finds the doorbell record as it was before its last change. */
  RECORD_STALE("record-stale", Set.of(FaultEvent.DOORBELL)),
  /** The CQE, and all behind it in its queue, are written {@code for} later. */
  CQE_LATE("cqe-late", Set.of(FaultEvent.CQE)),
  /** The port is down {@code for} some time: nothing leaves, nothing arrives. */
  LINK_DOWN(
      "link-down", Set.of(FaultEvent.PACKET_SENT, FaultEvent.PACKET_RECEIVED, FaultEvent.WQE)),
  /** The receiver has no buffer ready: an RNR NAK with {@code timer}. */
  RECEIVER_NOT_READY("rnr", Set.of(FaultEvent.RECEIVE)),
  /** The peer was configured with another path MTU: {@code mtu}. */
  MTU_MISMATCH("mtu-mismatch", Set.of(FaultEvent.CONNECT)),
  /** The peer was configured with a GID that no port has. */
  WRONG_GID("wrong-gid", Set.of(FaultEvent.CONNECT)),
  /** There is no on-chip memory left. */
  MEMIC_EXHAUSTED("memic-exhausted", Set.of(FaultEvent.ALLOCATE)),
  /** The payload may pass, and be passed by, other writes: PCIe relaxed ordering. */
  RELAXED_ORDERING("relaxed-ordering", Set.of(FaultEvent.PAYLOAD));

  private final String word;

  @SuppressWarnings("ImmutableEnumChecker") // made by Set.of
  private final Set<FaultEvent> events;

  FaultAction(String word, Set<FaultEvent> events) {
    this.word = word;
    this.events = events;
  }

  private static Set<FaultEvent> packets() {
    return Set.of(FaultEvent.PACKET_SENT, FaultEvent.PACKET_RECEIVED);
  }

  public String word() {
    return word;
  }

  /** The events that it can happen at. */
  public Set<FaultEvent> events() {
    return events;
  }
}
