package dev.doorbell.core.fabric.timed.machine;

/**
 * What a GPU's accesses cost, in nanoseconds of the accessing thread, and how it behaves on PCIe.
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
    double instruction,
    double load,
    double loadHit,
    double strongLoad,
    double store,
    double remoteStore,
    double atomic,
    double fence,
    double fenceSystem,
    double fenceFloor,
    double memoryService,
    int storeGranule,
    double combineWindow,
    int completionBytes,
    double copyEngineStart,
    double copyEngineRate,
    GpuRefinements finer) {

  /** Without refinements. */
  public GpuPrices(
      double instruction,
      double load,
      double loadHit,
      double strongLoad,
      double store,
      double remoteStore,
      double atomic,
      double fence,
      double fenceSystem,
      double fenceFloor,
      double memoryService,
      int storeGranule,
      double combineWindow,
      int completionBytes,
      double copyEngineStart,
      double copyEngineRate) {
    this(
        instruction,
        load,
        loadHit,
        strongLoad,
        store,
        remoteStore,
        atomic,
        fence,
        fenceSystem,
        fenceFloor,
        memoryService,
        storeGranule,
        combineWindow,
        completionBytes,
        copyEngineStart,
        copyEngineRate,
        GpuRefinements.none(fenceFloor));
  }

  /** The same with {@code refinements}. */
  public GpuPrices with(GpuRefinements refinements) {
    return new GpuPrices(
        instruction,
        load,
        loadHit,
        strongLoad,
        store,
        remoteStore,
        atomic,
        fence,
        fenceSystem,
        fenceFloor,
        memoryService,
        storeGranule,
        combineWindow,
        completionBytes,
        copyEngineStart,
        copyEngineRate,
        refinements);
  }
}
