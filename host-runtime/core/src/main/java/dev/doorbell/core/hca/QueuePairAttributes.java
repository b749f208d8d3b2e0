package dev.doorbell.core.hca;

import dev.doorbell.core.memory.MemoryKind;
import org.jspecify.annotations.Nullable;

/**
 * The attributes of a queue pair.
 *
 * @param sendBlocks send ring in 64-byte blocks, a power of two
 * @param receiveEntries receive ring in 16-byte entries (one data segment each), a power of two, or
 *     0
 * @param sendQueue completions of sends go there
 * @param receiveQueue completions of receives go there; null for a queue pair that takes none
 * @param ringIn where the send and receive rings lie: DEVICE or HOST
 * @param recordIn where the doorbell record lies: DEVICE or HOST
 * @param transport its transport service
 * @param sharedReceives where receive WQEs are taken from instead of a ring of its own, or null;
 *     {@code receiveEntries} is 0 then
 */
public record QueuePairAttributes(
    int sendBlocks,
    int receiveEntries,
    CompletionQueue sendQueue,
    @Nullable CompletionQueue receiveQueue,
    MemoryKind ringIn,
    MemoryKind recordIn,
    Transport transport,
    @Nullable SharedReceiveQueue sharedReceives) {

  /** A reliable connection with receives of its own. */
  public QueuePairAttributes(
      int sendBlocks,
      int receiveEntries,
      CompletionQueue sendQueue,
      @Nullable CompletionQueue receiveQueue,
      MemoryKind ringIn,
      MemoryKind recordIn) {
    this(sendBlocks, receiveEntries, sendQueue, receiveQueue, ringIn, recordIn, Transport.RC, null);
  }
}
