package dev.doorbell.core.fabric.timed;

/**
 * What a CPU's accesses cost, in nanoseconds of the accessing thread, and how it behaves on PCIe.
 *
 * @param instruction one instruction, where a thread counts them
 * @param load a load of host memory that its caches hold
 * @param store a store to host memory
 * @param atomic an atomic on host memory
 * @param post building a work request and starting its doorbell: charged once for each doorbell or
 *     BlueFlame block that the thread stores
 * @param poll from the moment that awaited memory changes until the thread acts on it
 * @param memoryService from the arrival of a read at the CPU until its first completion leaves
 * @param storeGranule a write-combining buffer's bytes
 * @param completionBytes the CPU cuts completions at multiples of this; 0 means at the largest
 *     payload
 */
public record CpuPrices(
    double instruction,
    double load,
    double store,
    double atomic,
    double post,
    double poll,
    double memoryService,
    int storeGranule,
    int completionBytes) {}
