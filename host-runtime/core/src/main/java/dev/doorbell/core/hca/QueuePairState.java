package dev.doorbell.core.hca;

/** The states of a queue pair (InfiniBand specification, chapter 10.3). */
public enum QueuePairState {
  /** Made; nothing may be posted. */
  RESET,
  /** Receives may be posted. */
  INIT,
  /** Ready to receive: connected to its peer. */
  RTR,
  /** Ready to send. */
  RTS,
  /** Every work request is flushed. */
  ERR
}
