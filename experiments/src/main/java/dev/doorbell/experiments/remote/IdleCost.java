package dev.doorbell.experiments.remote;

/**
 * What queue pairs cost that are connected and do nothing.
 *
 * @param queuePairs at each end
 * @param heapBytes of this process's heap, for each
 * @param memoryBytes of this process's emulated memory, for each: rings, records, doorbell page
 * @param peerCpu what the thread that serves them uses of a processor while nothing is sent; 1 is
 *     all of it
 * @param peerCpuBefore the same without them
 */
public record IdleCost(
    int queuePairs, long heapBytes, long memoryBytes, double peerCpu, double peerCpuBefore) {}
