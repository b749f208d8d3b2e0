package dev.doorbell.core.fabric.explore;

import dev.doorbell.core.fabric.Completion;
import dev.doorbell.core.fabric.DevicePort;
import dev.doorbell.core.fabric.DeviceUnit;
import dev.doorbell.core.fabric.MmioTarget;
import dev.doorbell.core.fabric.explore.model.Actor;
import dev.doorbell.core.fabric.explore.model.Cell.Words;
import dev.doorbell.core.fabric.explore.model.MemoryMachine;
import dev.doorbell.core.fabric.explore.model.MemoryMachine.WordSource;
import dev.doorbell.core.fabric.explore.model.Region;
import dev.doorbell.core.fabric.explore.model.Release;
import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.core.memory.RawMemory;
import dev.doorbell.core.mlx5.Cqe;
import dev.doorbell.core.mlx5.CqePrinter;
import dev.doorbell.core.mlx5.ErrorCqe;
import dev.doorbell.core.mlx5.SendQueue;
import dev.doorbell.core.mlx5.Syndrome;
import org.jspecify.annotations.Nullable;

/** DMA over the memory machine. What the device reads it gets as copies, never in place. */
final class ExploringDevicePort extends DevicePort {
  private final Actor device;
  private final ExploringFabric fabric;
  private final Slot slot;
  private final AddressSpace memory;
  private final MemoryMachine machine;

  /** The actor that is at work: a unit, or the device as a whole. */
  private Actor actor;

  private @Nullable ExploringDeviceUnit working;
  private long source;
  private final WordSource words = this::next;

  ExploringDevicePort(ExploringFabric fabric, Slot slot, Actor actor) {
    this.fabric = fabric;
    this.slot = slot;
    this.device = actor;
    this.actor = actor;
    this.memory = fabric.memory();
    this.machine = fabric.machine();
  }

  @Override
  public DeviceUnit unit(int queuePair, boolean requests) {
    Actor unit = another();
    if (requests) {
      fabric.sends(slot.locus, queuePair, unit);
    }
    Actor path = fabric.splitsVisibility() ? another() : unit;
    Actor completion = fabric.ordersPlacement() || !requests ? unit : another();
    return new ExploringDeviceUnit(
        this, fabric, unit, path, completion, machine.nextNumber(), machine.nextNumber());
  }

  private Actor another() {
    return fabric.device(device.place().rank(), device.who());
  }

  void acts(Actor other) {
    actor = other;
  }

  void works(ExploringDeviceUnit unit) {
    working = unit;
    actor = unit.actor;
  }

  @Override
  public long map(long address, int bytes) {
    memory.check("DMA", address, bytes);
    return 0;
  }

  @Override
  public boolean read(long address, long target, int bytes, Completion completion) {
    memory.check("DMA read", address, bytes);
    Region region = fabric.region(address);
    boolean record = region != null && region.role() == Region.Role.SEND_RECORD;
    boolean ring = region != null && region.role() == Region.Role.SEND_RING;
    int before = fabric.log().count();
    if (working != null) {
      working.flushed();
    }
    long from = address;
    long to = target;
    DeviceAccess at = at(region);
    int left = bytes;
    while (left > 0) {
      int piece = Words.piece(from, left);
      if (working != null) {
        working.reads(ring, from - address);
        if (ring && (from - address) % SendQueue.BLOCK == 0) {
          working.fetches(from - address, machine.newest(from));
        }
      }
      long value =
          record
              ? machine.readRecord(actor, from, piece, at)
              : machine.read(actor, from, piece, at);
      RawMemory.put(to, piece, value);
      from += piece;
      to += piece;
      left -= piece;
    }
    if (fabric.log().count() != before) {
      fabric.log().saw(before, region, address, target, bytes);
    }
    return true;
  }

  @Override
  public void readOfHost() {
    machine.readsOfHost(actor);
  }

  private DeviceAccess at(@Nullable Region region) {
    return new DeviceAccess(region, working == null ? null : working.post());
  }

  @Override
  public void write(long from, long address, int bytes, boolean relaxed) {
    ExploringDeviceUnit unit = working;
    if (unit != null && relaxed) {
      // It may pass what was written before, and still comes behind what its sender knew.
      place(from, address, bytes, true, unit.message());
      return;
    }
    memory.check("DMA write", address, bytes);
    source = from;
    Actor writer = unit == null || relaxed ? actor : unit.writer(actor, fabric.onGpu(address));
    machine.write(writer, address, bytes, relaxed, words, at(null));
  }

  @Override
  public void writeEntry(long from, long address) {
    if (Cqe.isError(Cqe.opcode(from)) && ErrorCqe.syndrome(from) != Syndrome.FLUSHED) {
      fabric.completedInError(slot.agent.name() + "  " + CqePrinter.line(from));
    }
    super.writeEntry(from, address);
  }

  @Override
  public void place(long from, long address, int bytes, boolean relaxed, @Nullable Object message) {
    ExploringDeviceUnit unit = working;
    if (unit == null) {
      write(from, address, bytes, relaxed);
      return;
    }
    memory.check("DMA write", address, bytes);
    source = from;
    Release knowledge = message instanceof Release release ? release : null;
    unit.places(
        machine.place(unit.actor, knowledge, address, bytes, relaxed, words, at(null)), relaxed);
  }

  @Override
  public int choose(int alternatives) {
    return fabric.choosePlacement(alternatives);
  }

  @Override
  public boolean atomic(
      long address, int bytes, long result, AtomicFunction atomic, Completion completion) {
    memory.check("DMA atomic", address, bytes);
    if (working != null) {
      working.flushed();
    }
    RawMemory.put(result, bytes, machine.atomic(actor, atomic, address, bytes, at(null)));
    return true;
  }

  @Override
  public boolean delay(long nanos, Completion completion) {
    return true;
  }

  @Override
  public void timer(long nanos, Completion completion) {
    fabric.timer(nanos, () -> completion.completed(true));
  }

  @Override
  public void onMmio(long page, MmioTarget target) {
    fabric.route(page, slot, target);
  }

  @Override
  public void offMmio(long page) {
    fabric.unroute(page);
  }

  @Override
  public long now() {
    return fabric.now();
  }

  private long next(int bytes) {
    long at = source;
    source += bytes;
    return RawMemory.get(at, bytes);
  }
}
