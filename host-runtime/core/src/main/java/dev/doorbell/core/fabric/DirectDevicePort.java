package dev.doorbell.core.fabric;

import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.core.memory.RawMemory;
import java.lang.invoke.VarHandle;

/**
 * DMA at once: a checked copy.
 *
 * <p>A thread of the host may poll what this port writes from another thread: writes appear in the
 * order of the calls, and the last 8 bytes of one, where they are aligned, after its other bytes.
 */
final class DirectDevicePort extends DevicePort {
  /** Keeper of timers. */
  @FunctionalInterface
  interface Timers {
    void add(long nanos, Completion completion);
  }

  private final AddressSpace memory;
  private final MmioPages mmio;
  private final Timers timers;

  DirectDevicePort(AddressSpace memory, MmioPages mmio, Timers timers) {
    this.memory = memory;
    this.mmio = mmio;
    this.timers = timers;
  }

  @Override
  public long map(long address, int bytes) {
    check("DMA read", address, bytes);
    return address;
  }

  @Override
  public boolean read(long address, long target, int bytes, Completion completion) {
    check("DMA read", address, bytes);
    RawMemory.copy(address, target, bytes);
    VarHandle.acquireFence();
    return true;
  }

  @Override
  public void write(long source, long address, int bytes, boolean relaxed) {
    check("DMA write", address, bytes);
    VarHandle.releaseFence();
    long last = address + bytes - Long.BYTES;
    if (bytes < Long.BYTES || (last & (Long.BYTES - 1)) != 0) {
      RawMemory.copy(source, address, bytes);
      return;
    }
    if (bytes > Long.BYTES) {
      RawMemory.copy(source, address, bytes - Long.BYTES);
    }
    RawMemory.putLongRelease(last, RawMemory.getLong(source + bytes - Long.BYTES));
  }

  @Override
  public void writeEntry(long source, long address) {
    check("DMA write", address, 64);
    writeEntryInPlace(source, address);
  }

  @Override
  public long mapEntry(long address) {
    check("DMA write", address, 64);
    return address;
  }

  @Override
  public boolean isImmediate() {
    return true;
  }

  @Override
  public boolean atomic(
      long address, int bytes, long result, AtomicFunction atomic, Completion completion) {
    check("DMA atomic", address, bytes);
    atomicInPlace(address, bytes, result, atomic);
    return true;
  }

  @Override
  public boolean delay(long nanos, Completion completion) {
    return true;
  }

  @Override
  public void timer(long nanos, Completion completion) {
    timers.add(nanos, completion);
  }

  @Override
  public void onMmio(long page, MmioTarget target) {
    mmio.route(page, target);
  }

  @Override
  public void offMmio(long page) {
    mmio.unroute(page);
  }

  @Override
  public long now() {
    return System.nanoTime();
  }

  private void check(String what, long address, int bytes) {
    boolean withinOnePage = ((int) address & (AddressSpace.PAGE - 1)) + bytes <= AddressSpace.PAGE;
    if (!(withinOnePage && memory.accessible(address, bytes))) {
      memory.check(what, address, bytes);
    }
  }
}
