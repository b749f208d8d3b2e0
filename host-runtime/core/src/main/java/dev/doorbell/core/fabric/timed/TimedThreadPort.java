package dev.doorbell.core.fabric.timed;

import dev.doorbell.core.agent.Agent;
import dev.doorbell.core.fabric.Access;
import dev.doorbell.core.fabric.Rmw;
import dev.doorbell.core.trace.TraceEvent;

/**
 * A thread's accesses: those to memory of its own component happen at once and cost their price;
 * others become TLPs, posted ones without waiting, loads and atomics with a round trip. Fences wait
 * for acknowledgements.
 */
final class TimedThreadPort extends LoadingThread {
  private final long block;

  /** Lines that wait for more stores and have some of this thread's. */
  int openLines;

  private boolean deviceStores;
  private boolean remoteStores;
  private long acknowledged;
  private long departed;
  private boolean fencing;
  private long fenced;

  /**
   * @param block the number of the thread's block, or {@link Place#NO_BLOCK}
   */
  TimedThreadPort(TimedFabric fabric, Place place, Agent agent, long number, long block) {
    super(fabric, place, agent, number, place.enter(block));
    this.block = block;
  }

  @Override
  void flush(Route route) {
    place.combiner.flush(this, route);
  }

  /**
   * The thread has ended.
   *
   * @return when all that it stored is there: as a kernel's end does, its own waits for that
   */
  long detach() {
    place.combiner.flush(this, null);
    if (place.gpu) {
      release();
    }
    place.leave(block);
    leave();
    return Math.max(time, acknowledged);
  }

  @Override
  public void store8(long address, long value, int access) {
    store(address, 1, value, 0, access);
  }

  @Override
  public void store16(long address, long value, int access) {
    store(address, 2, value, 0, access);
  }

  @Override
  public void store32(long address, long value, int access) {
    store(address, 4, value, 0, access);
  }

  @Override
  public void store64(long address, long value, int access) {
    store(address, 8, value, 0, access);
  }

  @Override
  public void store128(long address, long low, long high, int access) {
    store(address, 16, low, high, access);
  }

  private void store(long address, int bytes, long low, long high, int access) {
    Reach reach = place.reach("store", address, bytes);
    if (reach.scratch) {
      parked = false;
      write(address, bytes, low, high);
      return;
    }
    if (held()) {
      return;
    }
    int semantics = access & Access.SEMANTICS;
    if ((semantics == Access.RELEASE && releasing(access))
        || (!reach.local && awaitsLoad(address, bytes))) {
      return;
    }
    if (reach.uar) {
      storeRegister(reach, address, bytes, low, high, semantics);
      return;
    }
    if (fabric.tracing()) {
      trace(TraceEvent.Kind.STORE, address, low, bytes, "store " + Access.name(access));
    }
    if (reach.local) {
      write(address, bytes, low, high);
      deviceStores = place.gpu;
      fabric.written(reach.owner, address, bytes, time);
      time = Math.max(turn(warp.blockStores, bytes), turn(warp.stores, bytes)) + place.store;
    } else {
      remoteStores = place.gpu;
      if (semantics == Access.WEAK) {
        place.combiner.store(this, reach, address, bytes, low, high);
      } else {
        place.combiner.flush(this, reach.out());
        place.combiner.post(this, reach, address, bytes, low, high);
      }
      time = turn(warp.blockStores, bytes) + place.remoteStore;
    }
  }

  private void storeRegister(
      Reach reach, long address, int bytes, long low, long high, int semantics) {
    fabric.requireDevice(address, bytes);
    if (fabric.tracing()) {
      trace(TraceEvent.Kind.STORE, address, low, bytes, "store to doorbell page");
    }
    if (reach.local) {
      throw new IllegalStateException("a thread at " + place.locus + " rings its own doorbell");
    }
    if (bytes == 16 || (bytes == Long.BYTES && semantics == Access.WEAK)) {
      place.combiner.storeRegister(this, reach, address, bytes, low, high);
    } else {
      place.combiner.flush(this, reach.out());
      place.combiner.post(this, reach, address, bytes, low, high);
    }
    time += place.remoteStore;
  }

  /**
   * A posted store of this thread leaves until {@code left} and is acknowledged at {@code when}.
   */
  void posted(long left, long when) {
    departed = Math.max(departed, left);
    acknowledged = Math.max(acknowledged, when);
  }

  /** What this thread stored counts as the GPU's from now on. */
  private void release() {
    place.released = Math.max(place.released, acknowledged);
    place.releasedDeparture = Math.max(place.releasedDeparture, departed);
    place.releasedStores |= deviceStores;
    place.releasedRemote |= remoteStores;
    deviceStores = false;
    remoteStores = false;
  }

  private static void write(long address, int bytes, long low, long high) {
    if (bytes == 16) {
      Cells.store(address, Long.BYTES, low);
      Cells.store(address + Long.BYTES, Long.BYTES, high);
    } else {
      Cells.store(address, bytes, low);
    }
  }

  @Override
  public long atomic(
      Rmw operation, long address, int bytes, long operand, long compare, int access) {
    if (underWay()) {
      return finish(address, bytes, true);
    }
    Reach reach = place.reach("atomic", address, bytes);
    if (reach.uar) {
      throw fabric.memory().fault("atomic", address, bytes);
    }
    if (reach.scratch) {
      parked = false;
      long old = Cells.load(address, bytes);
      Cells.store(address, bytes, operation.apply(old, bytes, operand, compare));
      return old;
    }
    if (held()) {
      return 0;
    }
    int semantics = access & Access.SEMANTICS;
    boolean releases = semantics == Access.RELEASE || semantics == Access.ACQ_REL;
    if (releases && releasing(access)) {
      return 0;
    }
    if (!reach.local) {
      return begin(
          new RemoteAccess(fabric, this, reach, address, bytes, operation, operand, compare));
    }
    long old = Cells.load(address, bytes);
    long changed = operation.apply(old, bytes, operand, compare);
    polls.loaded(address, bytes, changed, time);
    if (changed != old) {
      Cells.store(address, bytes, changed);
      fabric.written(reach.owner, address, bytes, time);
    }
    time += place.atomic;
    return old;
  }

  @Override
  public long exchange128(long address, long low, long upper, int access) {
    return swap128(address, true, 0, 0, low, upper, access);
  }

  @Override
  public long compareAndSwap128(
      long address, long expectedLow, long expectedHigh, long low, long upper, int access) {
    return swap128(address, false, expectedLow, expectedHigh, low, upper, access);
  }

  /** Only in memory of the thread's own component: the path model has no 16-byte atomic TLPs. */
  private long swap128(
      long address,
      boolean always,
      long expectedLow,
      long expectedHigh,
      long low,
      long upper,
      int access) {
    Reach reach = place.reach("atomic", address, 16);
    if (!reach.scratch) {
      if (!reach.local) {
        throw fabric.memory().fault("16-byte atomic across PCIe", address, 16);
      }
      if (held()) {
        return 0;
      }
      int semantics = access & Access.SEMANTICS;
      boolean releases = semantics == Access.RELEASE || semantics == Access.ACQ_REL;
      if (releases && releasing(access)) {
        return 0;
      }
    }
    parked = false;
    long oldLow = read(address, 16);
    boolean swaps = always || (oldLow == expectedLow && high == expectedHigh);
    if (swaps) {
      write(address, 16, low, upper);
    }
    if (!reach.scratch) {
      boolean changed = swaps && (low != oldLow || upper != high);
      polls.loaded(address, Long.BYTES, swaps ? low : oldLow, time);
      polls.loaded(address + Long.BYTES, Long.BYTES, swaps ? upper : high, time);
      if (changed) {
        fabric.written(reach.owner, address, 16, time);
      }
      time += place.atomic;
    }
    return oldLow;
  }

  @Override
  public void fence(int access) {
    if (held()) {
      return;
    }
    boolean wide = wide(access);
    if (!fencing) {
      if (wide && (access & Access.SEMANTICS) != Access.RELEASE) {
        cache.forget();
      }
      long start = time;
      if ((access & Access.SEMANTICS) != Access.ACQUIRE) {
        drain(access);
      }
      if (wide) {
        time = Math.max(time, start + (system(access) ? place.fenceSystemFloor : place.fenceFloor));
        fenced = time - start;
        fabric.fenced(fenced);
      }
      fencing = true;
    }
    // Loads that are under way take their time beside the fence's own; and a wide fence returns
    // when the world has come as far as the thread.
    if (awaitsLoads() || (wide && held())) {
      return;
    }
    fencing = false;
    if (wide && fabric.tracing()) {
      trace(
          TraceEvent.Kind.FENCE, 0, fenced / TimedFabric.PICOS, 0, "fence " + Access.name(access));
    }
  }

  /** True when the thread has to wait until what comes before its release is done. */
  private boolean releasing(int access) {
    return (drain(access) > 0 && held()) || awaitsLoads() || held();
  }

  /**
   * Waits until the stores that {@code access}'s scope covers are performed: at GPU scope those to
   * the GPU's own memory, at system scope all; or, where the topology says so, have left. The waits
   * run side by side. Fences are cumulative: what other threads of the GPU have released, if only
   * to their CTA, is covered as well, whether or not this thread has acquired it.
   *
   * @return picoseconds waited
   */
  private long drain(int access) {
    int scope = access & Access.SCOPES;
    boolean narrow = scope == Access.CTA || scope == Access.CLUSTER;
    if (!narrow) {
      place.combiner.fence(this);
    }
    if (!place.gpu) {
      return 0;
    }
    release();
    if (narrow) {
      place.combiner.release();
      return 0;
    }
    boolean system = system(access);
    long until = time;
    if (place.releasedStores) {
      until += system ? place.fenceSystem : place.fence;
      place.releasedStores = false;
    }
    if (place.releasedRemote) {
      until = Math.max(until, time + (system ? place.fenceSystemRemote : place.fenceRemote));
    }
    if (system) {
      until = Math.max(until, place.fenceAwaitsArrival ? place.released : place.releasedDeparture);
    }
    place.releasedRemote = false;
    long waited = until - time;
    time = until;
    return waited;
  }

  private static boolean system(int access) {
    return wide(access) && (access & Access.SCOPES) != Access.GPU;
  }

  /** Whether a scope reaches beyond the multiprocessor. */
  private static boolean wide(int access) {
    int scope = access & Access.SCOPES;
    return scope != Access.CTA && scope != Access.CLUSTER;
  }
}
