package dev.doorbell.core.fabric.timed.machine;

/**
 * What a CPU's accesses cost, in nanoseconds of the accessing thread, and how it behaves on PCIe.
 *
 * @param instruction one instruction, where a thread counts them
 * @param load a load of host memory that its caches hold
 * @param store a store to host memory
 * @param atomic an atomic on host memory
 * @param post building a work request; spent by the program that does it, not by the fabric
 * @param poll from the poll that finds something until the thread acts on it; likewise
 * @param memoryService from the arrival of a read at the CPU until its first completion leaves
 * @param storeGranule a write-combining buffer's bytes
 * @param combineWindow how long such a buffer waits for further stores when nothing else flushes it
 * @param completionBytes the CPU cuts completions at multiples of this; 0 means at the largest
 *     payload
 * @param memory how its memory answers devices
 * @param finer what is known beyond these
 */
public record CpuPrices(
    double instruction,
    double load,
    double store,
    double atomic,
    double post,
    double poll,
    double memoryService,
    @Price(key = "store_granule_bytes", least = 16, most = 64, power = true) int storeGranule,
    double combineWindow,
    @Price(least = 64, most = Price.LARGEST_PAYLOAD, power = true, orNone = true)
        int completionBytes,
    @Price(key = "memory") MemoryPrices memory,
    CpuRefinements finer) {}
