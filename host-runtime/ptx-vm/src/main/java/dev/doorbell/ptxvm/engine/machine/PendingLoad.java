package dev.doorbell.ptxvm.engine.machine;

/** A load that is under way while its thread goes on. */
public interface PendingLoad {
  /** The slots that it writes. */
  int[] results();

  /** Bytes of the access: at most 16. */
  int bytes();

  /** {@code Access} bits. */
  int access();

  /** Writes the value to the registers and notes the load for the polling detection. */
  void arrived(Polling polling, long[] r, long address, long low, long high);
}
