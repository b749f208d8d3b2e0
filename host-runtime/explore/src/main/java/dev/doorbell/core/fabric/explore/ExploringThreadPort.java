package dev.doorbell.core.fabric.explore;

import dev.doorbell.core.agent.Agent;
import dev.doorbell.core.fabric.Access;
import dev.doorbell.core.fabric.Rmw;
import dev.doorbell.core.fabric.SizedThreadPort;
import dev.doorbell.core.fabric.explore.model.Actor;
import dev.doorbell.core.fabric.explore.model.Actor.Meeting;
import dev.doorbell.core.fabric.explore.model.Cell;
import dev.doorbell.core.fabric.explore.model.Cell.Words;
import dev.doorbell.core.fabric.explore.model.MemoryMachine;
import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.core.memory.Allocation;
import dev.doorbell.core.memory.RawMemory;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** A thread's access to the memory machine, and to the registers of devices. */
final class ExploringThreadPort extends SizedThreadPort {
  final Actor actor;
  private final ExploringFabric fabric;
  private final Slot slot;
  private final Agent agent;
  private final AddressSpace memory;
  private final MemoryMachine machine;
  private final AsyncCopies copies;

  /** The one who loads now: the thread, or one of its asynchronous copies. */
  private Actor loads;

  private Actor stores;

  /** Start and bytes of a range that the thread can address, where not all can be. */
  private long reached;

  private long reachedBytes;

  /** The cells that strong loads have seen since the last failed poll. */
  private final PolledCells polled = new PolledCells();

  /** The cells of all loads since {@link #spun}, while the thread spins; else null. */
  private @Nullable PolledCells spinning;

  ExploringThreadPort(ExploringFabric fabric, Slot slot, Actor actor) {
    this.fabric = fabric;
    this.slot = slot;
    this.agent = slot.agent;
    this.actor = actor;
    this.memory = fabric.memory();
    this.machine = fabric.machine();
    this.copies = new AsyncCopies(machine, actor);
    this.loads = actor;
    this.stores = actor;
    this.reachedBytes = fabric.joinsGpus() ? -1 : 0;
  }

  /**
   * Checks that the thread can address memory: of its own rank, or over NVLink.
   *
   * @throws dev.doorbell.core.memory.AccessFault where it is another rank's
   */
  private void reach(String access, long address, int bytes) {
    if (Long.compareUnsigned(address - reached, reachedBytes) < 0) {
      return;
    }
    Allocation there = memory.find(address);
    if (there == null) {
      return;
    }
    if (there.locus().rank() != slot.locus.rank()) {
      throw memory.unreachable(access, address, bytes, slot.locus, "launch: { nvlink: true }");
    }
    reached = there.address();
    reachedBytes = there.size();
  }

  @Override
  public void copying(Copies which) {
    AsyncCopies.Copy copy = copies.begin(which);
    loads = copy.reader();
    stores = copy.writer();
  }

  @Override
  public void copied() {
    loads = actor;
    stores = actor;
  }

  @Override
  public void commitCopies(boolean bulk) {
    copies.commit(bulk);
  }

  @Override
  public void awaitCopies(boolean bulk, int left, boolean reads) {
    copies.await(bulk, left, reads);
  }

  @Override
  public void fenceAsyncProxy() {
    actor.fencedProxy();
  }

  @Override
  public long load128(long address, int access) {
    high = load(address + Long.BYTES, 8, access);
    return load(address, 8, access);
  }

  @Override
  protected long load(long address, int bytes, int access) {
    if (!memory.accessible(address, bytes)) {
      if (fabric.target(address) == null) {
        throw memory.fault("load", address, bytes);
      }
      long word = RawMemory.getLong(address & -Long.BYTES);
      return (word >>> Words.shift(address)) & Words.ones(bytes);
    }
    reach("load", address, bytes);
    long value = machine.load(loads, address, bytes, access, agent.place());
    int semantics = access & Access.SEMANTICS;
    if (semantics != Access.WEAK && semantics != Access.NON_COHERENT) {
      polled.add(machine);
    } else if (spinning != null) {
      spinning.add(machine);
    }
    return value;
  }

  @Override
  public void store128(long address, long low, long high, int access) {
    store(address, 8, low, access);
    store(address + Long.BYTES, 8, high, access);
  }

  @Override
  protected void store(long address, int bytes, long value, int access) {
    if (memory.accessible(address, bytes)) {
      reach("store", address, bytes);
      machine.store(stores, address, bytes, value, access, agent.place());
    } else {
      fabric.storeRegister(slot, actor, address, bytes, value, access, agent.place());
    }
  }

  @Override
  public long atomic(
      Rmw operation, long address, int bytes, long operand, long compare, int access) {
    if (!memory.accessible(address, bytes)) {
      throw memory.fault("atomic", address, bytes);
    }
    reach("atomic", address, bytes);
    long old =
        machine.atomic(stores, operation, address, bytes, operand, compare, access, agent.place());
    polled.add(machine);
    return old;
  }

  @Override
  public void fence(int access) {
    fabric.sendCombined(slot);
    machine.fence(actor, access);
  }

  @Override
  public boolean takesShared() {
    return true;
  }

  @Override
  public void settle() {
    // The meeting itself says what comes before what.
  }

  @Override
  public Object arrive(@Nullable Object meeting) {
    Meeting met = meeting instanceof Meeting open ? open : new Meeting();
    met.arrive(actor);
    return met;
  }

  @Override
  public void leave(@Nullable Object meeting) {
    if (meeting instanceof Meeting met) {
      met.leave(actor);
    }
  }

  @Override
  public void executed(int instructions) {
    fabric.executed(instructions);
  }

  @Override
  public void spend(long nanos) {
    // Somebody else is likely to go next; nothing is gained by waiting for a clock.
  }

  @Override
  public void pollFailed(long atMostNanos) {
    if (polled.watch(slot)) {
      slot.sleeps = true;
      fabric.wakeAfter(slot, atMostNanos);
    } else {
      slot.looksAgain = true;
    }
  }

  @Override
  public boolean judgesProgress() {
    return true;
  }

  @Override
  public void spun(boolean loads) {
    fabric.spun(agent, agent.place(), loads);
    PolledCells seen = spinning;
    if (!loads || (seen != null && seen.watch(slot))) {
      slot.sleeps = true;
    } else if (seen == null) {
      spinning = new PolledCells();
    }
  }

  @Override
  public long now() {
    return fabric.now();
  }

  /** The cells that the loads of a waiting loop have seen, and their newest writes. */
  private static final class PolledCells {
    private static final int MOST = 256;

    private @Nullable Cell[] cells = new Cell[4];
    private long[] orders = new long[4];
    private int count;
    private boolean sawStale;

    /** Adds what the machine's last access loaded. */
    void add(MemoryMachine machine) {
      sawStale |= machine.stale;
      Cell cell = machine.loaded;
      if (cell == null) {
        return;
      }
      if (count < MOST) {
        if (count == cells.length) {
          cells = Arrays.copyOf(cells, 2 * count);
          orders = Arrays.copyOf(orders, 2 * count);
        }
        cells[count] = cell;
        orders[count] = cell.order();
      }
      count++;
    }

    /**
     * Wakes {@code slot} when one of the words is stored to, and forgets them.
     *
     * @return false when there is news already, or nothing to wait for
     */
    boolean watch(Slot slot) {
      boolean sleeps = !sawStale && count > 0 && count <= MOST;
      for (int i = 0; sleeps && i < count; i++) {
        Cell cell = cells[i];
        sleeps = cell != null && cell.order() == orders[i];
      }
      for (int i = 0; sleeps && i < count; i++) {
        Cell cell = cells[i];
        if (cell != null) {
          slot.watch(cell);
        }
      }
      count = 0;
      sawStale = false;
      return sleeps;
    }
  }
}
