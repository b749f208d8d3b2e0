package dev.doorbell.core.fault;

/** Actions of a device that a fault can be tied to. Each kind is counted from 0. */
public enum FaultEvent {
  /** A packet is about to leave on the wire, an acknowledgement or a resent one too. */
  PACKET_SENT("packet sent"),
  /** A packet has come from the wire and was not looked at yet. */
  PACKET_RECEIVED("packet received"),
  /** A WQE of a send queue is about to be executed. */
  WQE("wqe"),
  /** A store to a doorbell register has arrived. */
  DOORBELL("doorbell"),
  /** A completion is about to be written. */
  CQE("cqe"),
  /** A message needs a receive WQE. */
  RECEIVE("receive"),
  /** Payload is about to be written to memory. */
  PAYLOAD("payload"),
  /** A queue pair learns its peer: path MTU, GID. */
  CONNECT("connect"),
  /** On-chip memory is asked for. */
  ALLOCATE("alloc");

  private final String word;

  FaultEvent(String word) {
    this.word = word;
  }

  public String word() {
    return word;
  }

  /** True for the two ends of a packet's way. */
  public boolean isPacket() {
    return this == PACKET_SENT || this == PACKET_RECEIVED;
  }
}
