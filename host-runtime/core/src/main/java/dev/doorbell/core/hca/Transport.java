package dev.doorbell.core.hca;

/** The transport services of a queue pair (InfiniBand specification, chapter 9.2). */
public enum Transport {
  /** Reliable connection: in order, once, acknowledged. */
  RC,
  /** Unreliable connection: SEND and WRITE in order; a message that is hurt is dropped whole. */
  UC,
  /** Unreliable datagrams: SENDs of at most one path MTU to any peer, in any order. */
  UD,
  /**
   * Dynamically connected, the initiator's side: reliable as {@link #RC}, but every WQE names its
   * {@link DcTarget}, and the HCA connects to one after the other (mlx5).
   */
  DC,
  /**
   * Extended reliable connection: as {@link #RC}, but every request names the shared receive queue
   * that it is for, whose protection domain and completion queue the receiver uses (InfiniBand,
   * annex A14).
   */
  XRC,
  /**
   * No transport: SENDs of whole Ethernet frames, and receives of those that a steering rule of the
   * HCA gives to the queue pair.
   */
  RAW_PACKET
}
