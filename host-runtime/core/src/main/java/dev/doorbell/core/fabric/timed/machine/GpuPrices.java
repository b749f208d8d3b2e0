package dev.doorbell.core.fabric.timed.machine;

/**
 * Costs of a GPU's accesses, in nanoseconds of the accessing thread, and how it behaves on PCIe.
 *
 * @param instruction one instruction of a thread
 * @param load a weak load of its own memory
 * @param loadHit a weak load of a line that the thread loaded lately: it lies in the L1 cache until
 *     the thread acquires
 * @param strongLoad a strong load of its own memory: one poll
 * @param store a store to its own memory
 * @param remoteStore a store to host memory, NIC memory or a doorbell page, until the thread goes
 *     on
 * @param atomic an atomic on its own memory
 * @param fence a fence of GPU scope while stores to its own memory are outstanding
 * @param fenceSystem a fence of system scope, likewise
 * @param fenceFloor any fence with nothing outstanding
 * @param memoryService from the arrival of a read at the GPU until its first completion leaves
 * @param storeGranule stores into one aligned line of this many bytes merge into one TLP
 * @param combineWindow how long a line waits for further stores when nothing else flushes it
 * @param completionBytes the GPU cuts completions at multiples of this; 0 means at the largest
 *     payload
 * @param copyEngineStart from the call of a copy to its first byte
 * @param copyEngineRate the copy engine's bytes a nanosecond
 * @param finer what is known beyond these
 */
public record GpuPrices(
    @Price(cycles = 1) double instruction,
    @Price(cycles = 1) double load,
    @Price(cycles = 1) double loadHit,
    @Price(cycles = 1) double strongLoad,
    @Price(cycles = 1) double store,
    @Price(cycles = 1) double remoteStore,
    @Price(cycles = 1) double atomic,
    @Price(cycles = 1) double fence,
    @Price(cycles = 1) double fenceSystem,
    @Price(cycles = 1) double fenceFloor,
    double memoryService,
    @Price(key = "store_granule_bytes") int storeGranule,
    double combineWindow,
    int completionBytes,
    double copyEngineStart,
    @Price(key = "copy_engine_gb_s") double copyEngineRate,
    GpuRefinements finer) {}
