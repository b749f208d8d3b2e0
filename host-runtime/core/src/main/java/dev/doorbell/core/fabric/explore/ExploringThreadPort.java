package dev.doorbell.core.fabric.explore;

import dev.doorbell.core.agent.Agent;
import dev.doorbell.core.fabric.Access;
import dev.doorbell.core.fabric.Rmw;
import dev.doorbell.core.fabric.ThreadPort;
import dev.doorbell.core.fabric.explore.model.Actor;
import dev.doorbell.core.fabric.explore.model.Cell;
import dev.doorbell.core.fabric.explore.model.MemoryMachine;
import dev.doorbell.core.fabric.explore.model.Words;
import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.core.memory.RawMemory;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** A thread's access to the memory machine, and to the registers of devices. */
final class ExploringThreadPort extends ThreadPort {
  private static final int CELLS = 256;

  final Actor actor;
  private final ExploringFabric fabric;
  private final Slot slot;
  private final Agent agent;
  private final AddressSpace memory;
  private final MemoryMachine machine;

  /** What strong loads have seen since the last failed poll: words, and their newest writes. */
  private @Nullable Cell[] polled = new Cell[4];

  private long[] orders = new long[4];
  private int polledCount;
  private boolean sawStale;

  ExploringThreadPort(ExploringFabric fabric, Slot slot, Actor actor) {
    this.fabric = fabric;
    this.slot = slot;
    this.agent = slot.agent;
    this.actor = actor;
    this.memory = fabric.memory();
    this.machine = fabric.machine();
  }

  @Override
  public long load8(long address, int access) {
    return load(address, 1, access);
  }

  @Override
  public long load16(long address, int access) {
    return load(address, 2, access);
  }

  @Override
  public long load32(long address, int access) {
    return load(address, 4, access);
  }

  @Override
  public long load64(long address, int access) {
    return load(address, 8, access);
  }

  @Override
  public long load128(long address, int access) {
    high = load(address + Long.BYTES, 8, access);
    return load(address, 8, access);
  }

  private long load(long address, int bytes, int access) {
    if (!memory.accessible(address, bytes)) {
      if (fabric.target(address) == null) {
        throw memory.fault("load", address, bytes);
      }
      long word = RawMemory.getLong(address & -Long.BYTES);
      return (word >>> Words.shift(address)) & Words.ones(bytes);
    }
    long value = machine.load(actor, address, bytes, access, agent.place());
    int semantics = access & Access.SEMANTICS;
    if (semantics != Access.WEAK && semantics != Access.NON_COHERENT) {
      polls();
    }
    return value;
  }

  private void polls() {
    sawStale |= machine.stale;
    Cell cell = machine.loaded;
    if (cell == null) {
      return;
    }
    if (polledCount < CELLS) {
      if (polledCount == polled.length) {
        polled = Arrays.copyOf(polled, 2 * polledCount);
        orders = Arrays.copyOf(orders, 2 * polledCount);
      }
      polled[polledCount] = cell;
      orders[polledCount] = cell.order();
    }
    polledCount++;
  }

  @Override
  public void store8(long address, long value, int access) {
    store(address, 1, value, access);
  }

  @Override
  public void store16(long address, long value, int access) {
    store(address, 2, value, access);
  }

  @Override
  public void store32(long address, long value, int access) {
    store(address, 4, value, access);
  }

  @Override
  public void store64(long address, long value, int access) {
    store(address, 8, value, access);
  }

  @Override
  public void store128(long address, long low, long high, int access) {
    store(address, 8, low, access);
    store(address + Long.BYTES, 8, high, access);
  }

  private void store(long address, int bytes, long value, int access) {
    if (memory.accessible(address, bytes)) {
      machine.store(actor, address, bytes, value, access, agent.place());
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
    long old =
        machine.atomic(actor, operation, address, bytes, operand, compare, access, agent.place());
    polls();
    return old;
  }

  @Override
  public void fence(int access) {
    fabric.sendCombined(slot);
    fabric.fenced(agent, agent.place(), access);
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
    boolean sleeps = !sawStale && polledCount > 0 && polledCount <= CELLS;
    for (int i = 0; sleeps && i < polledCount; i++) {
      Cell cell = polled[i];
      sleeps = cell != null && cell.order() == orders[i];
    }
    if (sleeps) {
      for (int i = 0; i < polledCount; i++) {
        Cell cell = polled[i];
        if (cell != null) {
          slot.watch(cell);
        }
      }
      slot.sleeps = true;
      fabric.wakeAfter(slot, atMostNanos);
    } else {
      slot.looksAgain = true;
    }
    polledCount = 0;
    sawStale = false;
  }

  @Override
  public long now() {
    return fabric.now();
  }
}
