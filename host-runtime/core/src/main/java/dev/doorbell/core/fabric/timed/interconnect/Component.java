package dev.doorbell.core.fabric.timed.interconnect;

import dev.doorbell.core.fabric.timed.event.Picos;
import dev.doorbell.core.fabric.timed.event.Simulation.Sleeper;
import dev.doorbell.core.fabric.timed.link.Links;
import dev.doorbell.core.fabric.timed.link.Multipath;
import dev.doorbell.core.fabric.timed.link.Route;
import dev.doorbell.core.fabric.timed.machine.CpuPrices.MemoryPrices;
import dev.doorbell.core.fabric.timed.machine.Topology;
import dev.doorbell.core.memory.Allocation;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.MemoryKind;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A GPU, CPU or NIC of a node: the paths from it to memory, how it serves reads of its own memory,
 * and the threads that any write to its memory wakes.
 */
public final class Component {
  /** The name of accesses to multicast objects. */
  public static final String MULTIMEM = "multimem access";

  /** A rank that talks to hundreds of others uses some pages for each. */
  private static final int CACHED = 2048;

  private static final int PAGE_SHIFT = 12;

  /** Large allocations, of which more pages are in use than are cached. */
  private static final int RECENT = 4;

  public final Locus locus;

  /** Picoseconds from the arrival of a read until its first completion leaves. */
  public final long service;

  /** Does the same as {@link #service}, for a doorbell page. */
  final long registerService;

  /** Completions are cut at multiples of this; 0: at the largest payload. */
  final int completionBytes;

  private final Interconnect interconnect;
  private final @Nullable HostMemory memory;

  /** In the order in which they fell asleep. */
  private final List<Sleeper> idle = new ArrayList<>();

  private final @Nullable AccessPath[] cache = new AccessPath[CACHED];

  /** The paths that were looked for last, whatever their pages; {@link #oldest} is replaced. */
  private final @Nullable AccessPath[] recent = new AccessPath[RECENT];

  private int oldest;

  Component(Interconnect interconnect, Locus locus, Topology topology) {
    this.interconnect = interconnect;
    this.locus = locus;
    int index = locus.index();
    double serviceNanos;
    double registerNanos = 0;
    HostMemory host = null;
    switch (locus.part()) {
      case GPU -> {
        serviceNanos = topology.gpus().get(index).memoryService();
        completionBytes = topology.gpus().get(index).completionBytes();
      }
      case CPU -> {
        serviceNanos = topology.cpus().get(index).memoryService();
        completionBytes = topology.cpus().get(index).completionBytes();
        MemoryPrices prices = topology.cpus().get(index).memory();
        host = prices.isPlain() ? null : new HostMemory(prices);
      }
      default -> {
        serviceNanos = topology.nics().get(index).memoryService();
        registerNanos = topology.nics().get(index).finer().registerService();
        completionBytes = topology.nics().get(index).completionBytes();
      }
    }
    service = Picos.of(serviceNanos);
    registerService = Picos.of(registerNanos);
    memory = host;
  }

  /** When the data of a device's read whose request arrives at {@code arrival} can leave. */
  public long served(long address, int bytes, long arrival) {
    return (memory == null ? arrival : memory.read(address, bytes, arrival)) + service;
  }

  /**
   * A device's posted write arrives at {@code arrival}.
   *
   * @return when it is visible
   */
  public long posted(long address, int bytes, long arrival) {
    return memory == null ? arrival : memory.write(address, bytes, arrival);
  }

  /** When the IOMMU took the write that {@link #posted} told of; the next ones wait behind it. */
  public long taken(long arrival) {
    return memory == null ? arrival : Math.max(arrival, memory.walkStarted());
  }

  public boolean isGpu() {
    return locus.part() == Locus.Part.GPU;
  }

  /**
   * Returns how this component reaches {@code [address, address + bytes)}.
   *
   * @param access what is being done, for the message
   * @throws dev.doorbell.core.memory.AccessFault when no memory is there, or no link leads there
   */
  public AccessPath path(String access, long address, long bytes) {
    int generation = interconnect.memory().generation();
    int slot = (int) (address >>> PAGE_SHIFT) & (CACHED - 1);
    AccessPath cached = cache[slot];
    if (cached != null && serves(cached, access, address, bytes, generation)) {
      return cached;
    }
    AccessPath found = recent(access, address, bytes, generation);
    if (found == null) {
      found = find(access, address, bytes, generation);
      recent[oldest] = found;
      oldest = (oldest + 1) & (RECENT - 1);
    }
    cache[slot] = found;
    return found;
  }

  private static boolean serves(
      AccessPath path, String access, long address, long bytes, int generation) {
    return path.covers(address, bytes, generation)
        && (path.members == null || access.equals(MULTIMEM));
  }

  private @Nullable AccessPath recent(String access, long address, long bytes, int generation) {
    for (AccessPath path : recent) {
      if (path != null && serves(path, access, address, bytes, generation)) {
        return path;
      }
    }
    return null;
  }

  private AccessPath find(String access, long address, long bytes, int generation) {
    Allocation allocation = interconnect.memory().find(address);
    if (allocation == null || !allocation.contains(address, bytes)) {
      throw interconnect.memory().fault(access, address, bytes);
    }
    Locus there = allocation.locus();
    if (allocation.kind() == MemoryKind.MULTICAST) {
      return multicast(access, allocation, address, generation);
    }
    if (!interconnect.topology().joins(locus, there)) {
      String fix = interconnect.topology().nvlinkAdvice();
      throw interconnect.memory().unreachable(access, address, bytes, locus, fix);
    }
    return there.equals(locus)
        ? new AccessPath(allocation, this, false, null, null, null, generation)
        : new AccessPath(
            allocation,
            interconnect.component(there),
            there.rank() != locus.rank(),
            interconnect.links().route(locus, there),
            interconnect.links().route(there, locus),
            null,
            generation);
  }

  private AccessPath multicast(String access, Allocation of, long address, int generation) {
    long[] members = interconnect.memory().members(of.address(), 1);
    if (!access.equals(MULTIMEM) || members == null || interconnect.topology().nvlink() == null) {
      throw interconnect.memory().fault(access, address, 1);
    }
    List<AccessPath> paths = new ArrayList<>();
    for (long member : members) {
      paths.add(find(access, member, 1, generation));
    }
    Links links = interconnect.links();
    List<Locus> there = paths.stream().map(each -> each.owner.locus).toList();
    Route loop = links.loop(locus);
    Multipath way = links.multipath(locus, there);
    return new AccessPath(
        of, this, true, loop, loop, new AccessPath.Members(way, paths, members), generation);
  }

  /** Wakes {@code sleeper} whenever memory of this component is written. */
  public void addIdle(Sleeper sleeper) {
    idle.add(sleeper);
  }

  /** Undoes {@link #addIdle}. */
  public void removeIdle(Sleeper sleeper) {
    idle.remove(sleeper);
  }

  /** A thread of this component, or an atomic, wrote memory of this component. */
  void cached(long address, long bytes) {
    if (memory != null) {
      memory.cached(address, bytes);
    }
  }

  /** Memory of this component was written. */
  void wake(long time) {
    for (int i = idle.size() - 1; i >= 0; i--) {
      idle.get(i).wake(time);
    }
  }
}
