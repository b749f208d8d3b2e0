package dev.doorbell.core.hca;

import dev.doorbell.core.memory.MemoryKind;

/**
 * The attributes of a completion queue.
 *
 * @param entries CQEs of the ring, a power of two
 * @param collapsed every CQE goes to entry 0 and its owner bit never changes
 * @param ignoreOverrun the HCA does not look at the consumer index
 * @param ringIn DEVICE or HOST
 * @param recordIn DEVICE or HOST
 * @param entryBytes size of an entry, {@link #ENTRY} or {@link #LARGE_ENTRY}: a CQE is the last 64
 *     bytes of its entry
 */
public record CompletionQueueAttributes(
    int entries,
    boolean collapsed,
    boolean ignoreOverrun,
    MemoryKind ringIn,
    MemoryKind recordIn,
    int entryBytes) {
  /** Bytes of an entry that is a CQE. */
  public static final int ENTRY = 64;

  /** Bytes of an entry with room for received data before its CQE. */
  public static final int LARGE_ENTRY = 128;

  public CompletionQueueAttributes {
    if (entryBytes != ENTRY && entryBytes != LARGE_ENTRY) {
      throw new IllegalArgumentException("entryBytes=" + entryBytes);
    }
  }

  /** With entries of {@link #ENTRY}. */
  public CompletionQueueAttributes(
      int entries,
      boolean collapsed,
      boolean ignoreOverrun,
      MemoryKind ringIn,
      MemoryKind recordIn) {
    this(entries, collapsed, ignoreOverrun, ringIn, recordIn, ENTRY);
  }

  public long ringBytes() {
    return (long) entries * entryBytes;
  }

  /** A ring in GPU memory that ignores overrun: what GPU-side pollers use. */
  public static CompletionQueueAttributes ring(int entries, MemoryKind where) {
    return new CompletionQueueAttributes(entries, false, true, where, where);
  }

  /** A collapsed queue. */
  public static CompletionQueueAttributes collapsed(MemoryKind where) {
    return new CompletionQueueAttributes(1, true, true, where, where);
  }
}
