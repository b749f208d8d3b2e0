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
  DC
}
