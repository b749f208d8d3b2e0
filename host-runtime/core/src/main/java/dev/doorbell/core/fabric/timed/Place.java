package dev.doorbell.core.fabric.timed;

import dev.doorbell.core.fabric.timed.machine.CpuPrices;
import dev.doorbell.core.fabric.timed.machine.GpuPrices;
import dev.doorbell.core.fabric.timed.machine.GpuRefinements;
import dev.doorbell.core.fabric.timed.machine.NicPrices;
import dev.doorbell.core.fabric.timed.machine.Tlp;
import dev.doorbell.core.fabric.timed.machine.Topology;
import dev.doorbell.core.memory.Allocation;
import dev.doorbell.core.memory.Locus;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A component of a node: its prices in picoseconds, its way to others, and who sleeps there. */
final class Place {
  private static final double PICOS_PER_NANO = 1000;

  /** The block of a thread that belongs to none. */
  static final long NO_BLOCK = -1;

  private static final int CACHED = 256;
  private static final int PAGE_SHIFT = 12;

  final TimedFabric fabric;
  final Locus locus;
  final boolean gpu;
  long instruction;
  long load;
  long loadHit;
  long strongLoad;
  long store;
  long remoteStore;
  long atomic;
  long fence;
  long fenceSystem;
  long fenceFloor;
  long fenceSystemFloor;
  long fenceRemote;
  long fenceSystemRemote;
  boolean fenceAwaitsArrival = true;
  long remoteLoad;
  long remoteAtomic;
  long remoteSpread;
  double remoteContention;

  /** Loads of a thread that are under way at most, and what issuing one takes. */
  int loadsInFlight = 1;

  long loadIssue;

  /** Loads of memory elsewhere by threads here. */
  int loadsUnderWay;

  long onChipRead;
  long service;
  long combineWindow;

  /** When the posted stores that threads here have released are acknowledged. */
  long released;

  /** When the last of them has left. */
  long releasedDeparture;

  /** Threads here have released stores to memory elsewhere that no fence has covered yet. */
  boolean releasedRemote;

  /** Threads here have released stores to their own memory that no fence has covered yet. */
  boolean releasedStores;

  /** What a step that took no time takes, so that spinning makes time pass. */
  long shortestTurn;

  int granule;
  int completionBytes;
  int maxReadRequest = Tlp.REQUEST_BOUNDARY;
  int readTags;

  final WriteCombiner combiner;
  final LoadCombiner loads;

  /** What bounds the loads and the stores of all threads together; null: nothing. */
  @Nullable Gate loadGate;

  @Nullable Gate storeGate;

  private double blockStoreRate;
  private int loadGranule;

  /** Those that have threads, by their numbers. */
  private final Map<Long, Block> blocks = new HashMap<>();

  /** Threads of a CPU that had nothing to do, in the order in which they fell asleep. */
  private final List<ScheduledThread> idle = new ArrayList<>();

  private final @Nullable Reach[] cache = new Reach[CACHED];

  Place(TimedFabric fabric, Locus locus, Topology topology) {
    this.fabric = fabric;
    this.locus = locus;
    this.gpu = locus.part() == Locus.Part.GPU;
    switch (locus.part()) {
      case GPU -> price(topology.gpus().get(locus.index()));
      case CPU -> price(topology.cpus().get(locus.index()));
      case NIC -> price(topology.nics().get(locus.index()));
    }
    this.combiner = new WriteCombiner(this);
    this.loads = new LoadCombiner(loadGranule);
  }

  /** The warp of another thread of a block; one that belongs to none is a warp alone. */
  Warp enter(long block) {
    return block == NO_BLOCK
        ? new Warp(this, null)
        : blocks.computeIfAbsent(block, key -> new Block(this, blockStoreRate)).enter();
  }

  /** A thread of a block, or of none, has ended. */
  void leave(long block) {
    Block left = blocks.get(block);
    if (left != null && left.leave()) {
      blocks.remove(block);
    }
  }

  private void price(GpuPrices prices) {
    instruction = picos(prices.instruction());
    load = picos(prices.load());
    loadHit = picos(prices.loadHit());
    strongLoad = picos(prices.strongLoad());
    store = picos(prices.store());
    remoteStore = picos(prices.remoteStore());
    atomic = picos(prices.atomic());
    fence = picos(prices.fence());
    fenceSystem = picos(prices.fenceSystem());
    fenceFloor = picos(prices.fenceFloor());
    service = picos(prices.memoryService());
    combineWindow = picos(prices.combineWindow());
    granule = prices.storeGranule();
    completionBytes = prices.completionBytes();
    shortestTurn = 100;
    refine(prices.finer());
  }

  private void refine(GpuRefinements finer) {
    fenceSystemFloor = picos(finer.fenceSystemFloor());
    fenceRemote = picos(finer.fenceRemote());
    fenceSystemRemote = picos(finer.fenceSystemRemote());
    fenceAwaitsArrival = finer.fenceAwaitsArrival();
    remoteLoad = picos(finer.remoteLoad());
    remoteAtomic = picos(finer.remoteAtomic());
    remoteSpread = picos(finer.remoteSpread());
    remoteContention = finer.remoteContention() * PICOS_PER_NANO;
    loadGranule = finer.loadGranule();
    loadsInFlight = finer.loadsInFlight();
    loadIssue = picos(finer.loadIssue());
    blockStoreRate = finer.blockStoreRate();
    loadGate = Gate.of(finer.loadRate());
    storeGate = Gate.of(finer.storeRate());
  }

  private void price(CpuPrices prices) {
    instruction = picos(prices.instruction());
    load = picos(prices.load());
    loadHit = load;
    strongLoad = load;
    store = picos(prices.store());
    remoteStore = store;
    atomic = picos(prices.atomic());
    service = picos(prices.memoryService());
    granule = prices.storeGranule();
    completionBytes = prices.completionBytes();
    combineWindow = picos(prices.combineWindow());
    shortestTurn = 1000;
  }

  private void price(NicPrices prices) {
    service = picos(prices.memoryService());
    onChipRead = picos(prices.onChipRead());
    maxReadRequest = prices.maxReadRequest();
    readTags = prices.readTags();
    completionBytes = prices.completionBytes();
    granule = WriteCombiner.REGISTER_BLOCK;
    shortestTurn = 1000;
  }

  static long picos(double nanos) {
    return Math.round(nanos * PICOS_PER_NANO);
  }

  /**
   * How this place reaches {@code [address, address + bytes)}.
   *
   * @throws dev.doorbell.core.memory.AccessFault when there is nothing
   */
  Reach reach(String what, long address, long bytes) {
    int generation = fabric.memory().generation();
    int slot = (int) (address >>> PAGE_SHIFT) & (CACHED - 1);
    Reach cached = cache[slot];
    if (cached != null && cached.covers(address, bytes, generation)) {
      return cached;
    }
    Allocation allocation = fabric.memory().find(address);
    if (allocation == null || !allocation.contains(address, bytes)) {
      throw fabric.memory().fault(what, address, bytes);
    }
    Reach found;
    if (allocation.locus().equals(locus)) {
      found = new Reach(allocation, this, null, null, generation);
    } else {
      Place owner = fabric.place(allocation.locus());
      found =
          new Reach(
              allocation,
              owner,
              fabric.route(locus, allocation.locus()),
              fabric.route(allocation.locus(), locus),
              generation);
    }
    cache[slot] = found;
    return found;
  }

  /** A thread has nothing to do. One of a GPU knows what it waits for, and is woken for that. */
  void fellAsleep(ScheduledThread thread) {
    if (!gpu) {
      idle.add(thread);
    }
  }

  void wokeUp(ScheduledThread thread) {
    if (!gpu) {
      idle.remove(thread);
    }
  }

  /** Wakes the idle threads: memory of this place was written. */
  void rouse(long time) {
    for (int i = idle.size() - 1; i >= 0; i--) {
      idle.get(i).wake(time);
    }
  }
}
