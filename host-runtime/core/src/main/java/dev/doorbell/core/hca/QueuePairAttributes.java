package dev.doorbell.core.hca;

import dev.doorbell.core.memory.MemoryKind;
import org.jspecify.annotations.Nullable;

/**
 * What a queue pair is to be like.
 *
 * @param sendBlocks send ring in 64-byte blocks, a power of two
 * @param receiveEntries receive ring in 16-byte entries (one data segment each), a power of two, or
 *     0
 * @param sendQueue completions of sends go there
 * @param receiveQueue completions of receives go there; null when {@code receiveEntries} is 0
 * @param ringIn where the send and receive rings lie: DEVICE or HOST
 * @param recordIn where the doorbell record lies: DEVICE or HOST
 */
public record QueuePairAttributes(
    int sendBlocks,
    int receiveEntries,
    CompletionQueue sendQueue,
    @Nullable CompletionQueue receiveQueue,
    MemoryKind ringIn,
    MemoryKind recordIn) {}
