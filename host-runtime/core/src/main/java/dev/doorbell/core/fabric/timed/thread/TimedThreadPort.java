package dev.doorbell.core.fabric.timed.thread;

import dev.doorbell.core.agent.Agent;
import dev.doorbell.core.fabric.Access;
import dev.doorbell.core.fabric.Rmw;
import dev.doorbell.core.fabric.timed.event.Picos;
import dev.doorbell.core.fabric.timed.interconnect.AccessPath;
import dev.doorbell.core.fabric.timed.interconnect.Cells;
import dev.doorbell.core.fabric.timed.interconnect.Component;
import dev.doorbell.core.fabric.timed.link.Route;
import dev.doorbell.core.fabric.timed.processor.Processor;
import dev.doorbell.core.fabric.timed.processor.RemoteAccess;
import dev.doorbell.core.fabric.timed.processor.StoreOrder;
import dev.doorbell.core.fabric.timed.processor.WriteCombiner;
import dev.doorbell.core.trace.TraceEvent;

/**
 * A thread's accesses: those to memory of its own component happen at once and cost their price;
 * others become TLPs, posted ones without waiting, loads and atomics with a round trip. Fences wait
 * for acknowledgements.
 */
public final class TimedThreadPort extends LoadingThread {
  private final long block;

  private final boolean gpu;
  private final WriteCombiner combiner;
  private final StoreOrder stores = new StoreOrder();
  private boolean fencing;
  private long fenced;

  /**
   * @param block the number of the thread's block, or {@link Processor#NO_BLOCK}
   */
  TimedThreadPort(
      ThreadScheduler scheduler, Processor processor, Agent agent, long number, long block) {
    super(scheduler, processor, agent, number, processor.enter(block));
    this.block = block;
    this.gpu = processor.component.isGpu();
    this.combiner = processor.stores;
  }

  @Override
  void flush(Route route) {
    combiner.flush(stores, time, route);
  }

  @Override
  public boolean wakeAgent() {
    wake(scheduler.now());
    return true;
  }

  /**
   * The thread has ended.
   *
   * @return when all that it stored is there: as a kernel's end does, its own waits for that
   */
  long detach() {
    combiner.flush(stores, time, null);
    if (gpu) {
      stores.release(processor.released);
    }
    processor.leave(block);
    leave();
    return Math.max(time, stores.acknowledged());
  }

  @Override
  protected void store(long address, int bytes, long value, int access) {
    store(address, bytes, value, 0, access);
  }

  @Override
  public void store128(long address, long low, long high, int access) {
    store(address, 16, low, high, access);
  }

  @Override
  public boolean storeMembers(long address, int bytes, long low, long high, int access) {
    store(Component.MULTIMEM, address, bytes, low, high, access);
    return true;
  }

  private void store(long address, int bytes, long low, long high, int access) {
    store("store", address, bytes, low, high, access);
  }

  private void store(String name, long address, int bytes, long low, long high, int access) {
    AccessPath path = processor.component.path(name, address, bytes);
    if (path.scratch) {
      parked = false;
      write(address, bytes, low, high);
      return;
    }
    if (isUnnoticed(path, address, bytes, access) ? heldUnnoticed() : held()) {
      return;
    }
    int semantics = access & Access.SEMANTICS;
    if ((semantics == Access.RELEASE && releasing(access))
        || (!path.local && awaitsLoad(address, bytes))) {
      return;
    }
    if (path.uar) {
      storeRegister(path, address, bytes, low, high, semantics);
      return;
    }
    if (interconnect.tracing()) {
      trace(TraceEvent.Kind.STORE, address, low, bytes, "store " + Access.name(access));
    }
    polls.stored();
    if (path.local) {
      write(address, bytes, low, high);
      stores.storedLocally();
      interconnect.written(path.owner, address, bytes, time);
      time = Math.max(blockTurn(address, bytes), turn(warp.stores, bytes)) + prices.store();
    } else {
      stores.storedRemotely();
      storesElsewhere(address);
      stores.posting(path);
      if (semantics == Access.WEAK) {
        combiner.store(stores, time, path, address, bytes, low, high);
      } else {
        combiner.flush(stores, time, path.out());
        combiner.post(stores, time, path, address, bytes, low, high);
      }
      time = blockTurn(address, bytes) + prices.remoteStore();
    }
  }

  /** When the multiprocessor takes a store: it takes whole sectors. */
  private long blockTurn(long address, int bytes) {
    return warp.blockStores == null
        ? time
        : warp.blockStores.passSectors(lane, time, address, bytes);
  }

  /**
   * Returns true if the time of a store cannot be noticed: it is weak, no thread waits for it, and
   * it passes no gate. Whoever reads it has acquired what the thread releases later, in a turn of
   * its own; a program of which that is not true has no order there.
   */
  private boolean isUnnoticed(AccessPath path, long address, int bytes, int access) {
    return path.local
        && (access & Access.SEMANTICS) == Access.WEAK
        && warp.stores == null
        && warp.blockStores == null
        && !interconnect.watches().isWatched(address, bytes);
  }

  private void storeRegister(
      AccessPath path, long address, int bytes, long low, long high, int semantics) {
    interconnect.requireRegister(address, bytes);
    if (interconnect.tracing()) {
      trace(TraceEvent.Kind.STORE, address, low, bytes, "store to doorbell page");
    }
    if (path.local) {
      throw new IllegalStateException(
          "a thread at " + processor.component.locus + " rings its own doorbell");
    }
    polls.left();
    stores.posting(path);
    if (bytes == 16 || (bytes == Long.BYTES && semantics == Access.WEAK)) {
      combiner.storeRegister(stores, time, path, address, bytes, low, high);
    } else {
      combiner.flush(stores, time, path.out());
      combiner.post(stores, time, path, address, bytes, low, high);
    }
    time += prices.remoteStore();
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
    AccessPath path = processor.component.path("atomic", address, bytes);
    if (path.uar) {
      throw interconnect.memory().fault("atomic", address, bytes);
    }
    if (path.scratch) {
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
    if (acquires(access)) {
      cache.forget();
    }
    if (!path.local) {
      return begin(
          new RemoteAccess(
              interconnect, processor, this, path, address, bytes, operation, operand, compare));
    }
    long old = Cells.load(address, bytes);
    long changed = operation.apply(old, bytes, operand, compare);
    polls.loaded(address, bytes, changed, time, 0);
    if (changed != old) {
      Cells.store(address, bytes, changed);
      interconnect.written(path.owner, address, bytes, time);
    }
    if ((access & Access.REDUCTION) != 0) {
      stores.storedLocally();
      time += prices.store();
    } else {
      time += prices.atomic();
    }
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
    AccessPath path = processor.component.path("atomic", address, 16);
    if (!path.scratch) {
      if (!path.local) {
        throw interconnect.memory().fault("16-byte atomic across PCIe", address, 16);
      }
      if (held()) {
        return 0;
      }
      int semantics = access & Access.SEMANTICS;
      boolean releases = semantics == Access.RELEASE || semantics == Access.ACQ_REL;
      if (releases && releasing(access)) {
        return 0;
      }
      if (acquires(access)) {
        cache.forget();
      }
    }
    parked = false;
    long oldLow = read(address, 16);
    boolean swaps = always || (oldLow == expectedLow && high == expectedHigh);
    if (swaps) {
      write(address, 16, low, upper);
    }
    if (!path.scratch) {
      boolean changed = swaps && (low != oldLow || upper != high);
      polls.loaded(address, Long.BYTES, swaps ? low : oldLow, time, 0);
      polls.loaded(address + Long.BYTES, Long.BYTES, swaps ? upper : high, time, 0);
      if (changed) {
        interconnect.written(path.owner, address, 16, time);
      }
      time += prices.atomic();
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
      // A fence that acquires alone discards what the cache holds, and awaits no store.
      if ((access & Access.SEMANTICS) != Access.ACQUIRE) {
        drain(access);
      }
      if (wide) {
        fenced = time - start;
        scheduler.fenced(fenced);
      }
      fencing = true;
    }
    // Loads that are under way take their time beside the fence's own; and a wide fence returns
    // when the world has come as far as the thread.
    if (awaitsLoads() || (wide && held())) {
      return;
    }
    fencing = false;
    if (wide && interconnect.tracing()) {
      trace(TraceEvent.Kind.FENCE, 0, fenced / Picos.PER_NANO, 0, "fence " + Access.name(access));
    }
  }

  /** Returns true if the thread has to wait: a release is a fence, and the store behind it. */
  private boolean releasing(int access) {
    if (!fencing) {
      drain(access);
    }
    fencing = awaitsLoads() || held();
    return fencing;
  }

  /**
   * Waits until the stores that {@code access}'s scope covers are performed: at GPU scope those to
   * the GPU's own memory, at system scope all; or, where the topology says so, have left. The waits
   * run side by side. Fences are cumulative: what other threads of the GPU have released, if only
   * to their CTA, is covered as well, whether or not this thread has acquired it.
   */
  private void drain(int access) {
    int scope = access & Access.SCOPES;
    boolean narrow = scope == Access.CTA || scope == Access.CLUSTER;
    if (!narrow) {
      combiner.fence(stores, time);
    }
    if (!gpu) {
      return;
    }
    StoreOrder released = processor.released;
    stores.release(released);
    if (narrow) {
      combiner.release();
      return;
    }
    boolean system = system(access);
    long least = system ? prices.fenceSystemFloor() : prices.fenceFloor();
    long until = time;
    if (released.coverLocal()) {
      until += system ? prices.fenceSystem() : prices.fence();
    }
    if (released.coverRemote()) {
      until = Math.max(until, time + (system ? prices.fenceSystemRemote() : prices.fenceRemote()));
    }
    if (system) {
      long roundTrip = released.coverRoundTrip();
      if (prices.fenceFlushes() && roundTrip > 0) {
        until = Math.max(until, time + prices.fence() + roundTrip);
      }
      until = Math.max(until, released.acknowledgedNear());
      until =
          Math.max(
              until, prices.fenceAwaitsArrival() ? released.acknowledged() : released.departed());
    }
    time = Math.max(until, time + least);
  }

  /** Returns true if the L1 cache is empty behind an atomic. */
  private static boolean acquires(int access) {
    int semantics = access & Access.SEMANTICS;
    return (semantics == Access.ACQUIRE || semantics == Access.ACQ_REL)
        && (access & Access.REDUCTION) == 0
        && wide(access);
  }

  private static boolean system(int access) {
    return wide(access) && (access & Access.SCOPES) != Access.GPU;
  }
}
