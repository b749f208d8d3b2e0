package dev.doorbell.interop.shim.client;

import dev.doorbell.core.fabric.Completion;
import dev.doorbell.core.fabric.DevicePort;
import dev.doorbell.core.fabric.MmioTarget;
import dev.doorbell.core.gpu.SharedGpus;
import dev.doorbell.core.memory.AccessFault;
import dev.doorbell.core.memory.RawMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;

/**
 * DMA to memory of this process and of clients. A bus address is a native address of this process,
 * or has a client's slot above its {@link ClientProcess#ADDRESS_BITS} bits, or is one of a GPU
 * ({@link ClientFabric#GPU}) or of {@link ClientFabric#NOTHING}.
 *
 * <p>A write to memory of this process makes the last 8 bytes visible after the others where they
 * are aligned; a write to a client's memory appears in ascending order. Atomics on a client's
 * memory are atomic among devices of this fabric alone, which is what {@code IBV_ATOMIC_HCA}
 * promises.
 */
final class ClientPort extends DevicePort {
  /** Size of the buffer through which copies go; small enough to stay in a cache. */
  private static final int BOUNCE_BYTES = 128 << 10;

  private final ClientFabric fabric;
  private final MemorySegment cell = Arena.ofAuto().allocate(Long.BYTES, Long.BYTES);

  private final MemorySegment bounceMemory = Arena.ofAuto().allocate(BOUNCE_BYTES, 64);
  private final long bounce = bounceMemory.address();

  ClientPort(ClientFabric fabric) {
    this.fabric = fabric;
  }

  @Override
  public long map(long address, int bytes) {
    return isLocal(address) ? address : 0;
  }

  @Override
  public boolean read(long address, long target, int bytes, Completion completion) {
    if (isLocal(address)) {
      RawMemory.copy(address, target, bytes);
      VarHandle.acquireFence();
    } else {
      fetch(address, target, bytes);
    }
    return true;
  }

  @Override
  public void write(long source, long address, int bytes, boolean relaxed) {
    if (ClientFabric.isOnGpu(address)) {
      if (!gpus(address, bytes).write(source, ClientFabric.onGpu(address), bytes)) {
        throw fabric.gone("write", address, bytes);
      }
      return;
    }
    if (!isLocal(address)) {
      if (address >= 0 && !client(address, bytes).write(source, addressOf(address), bytes)) {
        throw noMemory("write", address, bytes);
      }
      return;
    }
    VarHandle.releaseFence();
    long last = address + bytes - Long.BYTES;
    if (bytes < Long.BYTES || (last & (Long.BYTES - 1)) != 0) {
      RawMemory.copy(source, address, bytes);
      return;
    }
    RawMemory.copy(source, address, bytes - Long.BYTES);
    RawMemory.putLongRelease(last, RawMemory.getLong(source + bytes - Long.BYTES));
  }

  @Override
  public boolean copy(long from, long to, int bytes, boolean relaxed) {
    // Where two GPUs do not reach each other, bytes go through memory of this process.
    if (ClientFabric.isOnGpu(from)
        && ClientFabric.isOnGpu(to)
        && gpus(to, bytes).copy(ClientFabric.onGpu(from), ClientFabric.onGpu(to), bytes)) {
      return true;
    }
    for (int done = 0; done < bytes; ) {
      int part = Math.min(bytes - done, BOUNCE_BYTES);
      fetch(from + done, bounce, part);
      write(bounce, to + done, part, relaxed);
      done += part;
    }
    return true;
  }

  private void fetch(long address, long target, int bytes) {
    if (ClientFabric.isOnGpu(address)) {
      if (!gpus(address, bytes).read(ClientFabric.onGpu(address), target, bytes)) {
        throw fabric.gone("read", address, bytes);
      }
    } else if (address < 0) {
      RawMemory.fill(target, bytes, (byte) 0);
    } else if (!client(address, bytes).read(addressOf(address), target, bytes)) {
      throw noMemory("read", address, bytes);
    }
  }

  @Override
  public void writeEntry(long source, long address) {
    if (ClientFabric.isOnGpu(address)) {
      write(source, address, 64, false);
      return;
    }
    writeEntryInPlace(source, address);
  }

  @Override
  public long mapEntry(long address) {
    return isLocal(address) ? address : 0;
  }

  @Override
  public boolean isImmediate() {
    return true;
  }

  @Override
  public boolean atomic(
      long address, int bytes, long result, AtomicFunction atomic, Completion completion) {
    if (isLocal(address) && (address & (bytes - 1)) == 0) {
      atomicInPlace(address, bytes, result, atomic);
    } else {
      read(address, result, bytes, completion);
      boolean narrow = bytes == Integer.BYTES;
      long old = narrow ? RawMemory.getInt(result) & 0xffff_ffffL : RawMemory.getLong(result);
      RawMemory.putLong(cell.address(), atomic.apply(old));
      write(cell.address(), address, bytes, false);
    }
    return true;
  }

  @Override
  public boolean delay(long nanos, Completion completion) {
    return true;
  }

  @Override
  public void timer(long nanos, Completion completion) {
    fabric.timer(nanos, completion);
  }

  @Override
  public void onMmio(long page, MmioTarget target) {
    fabric.addRegisters(page, target);
  }

  @Override
  public void offMmio(long page) {
    fabric.removeRegisters(page);
  }

  @Override
  public long now() {
    return System.nanoTime();
  }

  private static boolean isLocal(long address) {
    return address >>> ClientProcess.ADDRESS_BITS == 0;
  }

  private static long addressOf(long address) {
    return address & (1L << ClientProcess.ADDRESS_BITS) - 1;
  }

  private SharedGpus gpus(long address, int bytes) {
    SharedGpus gpus = fabric.gpus();
    if (gpus == null) {
      throw fabric.gone("access", address, bytes);
    }
    return gpus;
  }

  private ClientMemory client(long address, int bytes) {
    ClientProcess process = fabric.process((int) (address >>> ClientProcess.ADDRESS_BITS));
    if (process == null) {
      throw noMemory("access", address, bytes);
    }
    return process.memory();
  }

  private static AccessFault noMemory(String what, long address, int bytes) {
    return new AccessFault(
        "DMA " + what, addressOf(address), bytes, "the program no longer has this memory");
  }
}
