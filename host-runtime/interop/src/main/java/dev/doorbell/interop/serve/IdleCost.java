package dev.doorbell.interop.serve;

/**
 * The cost of queue pairs that are connected and send nothing.
 *
 * @param queuePairs at each end
 * @param heapBytes of this process's heap, for each
 * @param memoryBytes of this process's emulated memory, for each: rings, records, doorbell page
 * @param peerCpu share of a processor that the serving thread uses while nothing is sent, 0 to 1
 * @param peerCpuBefore the same share without the idle queue pairs
 */
public record IdleCost(
    int queuePairs, long heapBytes, long memoryBytes, double peerCpu, double peerCpuBefore) {}
