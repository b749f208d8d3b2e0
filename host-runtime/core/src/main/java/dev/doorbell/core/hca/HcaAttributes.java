package dev.doorbell.core.hca;

/**
 * Model and limits of an HCA.
 *
 * @param maxQueuePairs how many queue pairs
 * @param maxSendBlocks largest send ring, in 64-byte blocks
 * @param minSendBlocks smallest send ring, in 64-byte blocks
 * @param maxCompletionEntries largest completion ring
 * @param maxInlineBytes largest inline payload of a WRITE
 * @param onChipBytes on-chip memory (MEMIC); 0 when there is none
 * @param blueFlameBytes bytes of one BlueFlame register half; 0 when there is none
 * @param maxMessageBytes largest message
 * @param maxReadAtomic READs and atomics that may be outstanding on a queue pair
 */
public record HcaAttributes(
    int maxQueuePairs,
    int maxSendBlocks,
    int minSendBlocks,
    int maxCompletionEntries,
    int maxInlineBytes,
    long onChipBytes,
    int blueFlameBytes,
    long maxMessageBytes,
    int maxReadAtomic) {}
