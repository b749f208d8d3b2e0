package dev.doorbell.core.fabric;

import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.RawMemory;
import java.lang.invoke.VarHandle;

/**
 * A thread's access to memory at once: a window check and one load or store.
 *
 * <p>PTX semantics map to Java's: strong accesses to opaque ones, acquire and release to
 * themselves, fences to fences. Java's are at least as strong. A page that the check refuses is
 * either a doorbell page, whose stores are handed to the device, or unmapped.
 */
final class DirectThreadPort extends ThreadPort {
  private final AddressSpace memory;
  private final MmioPages mmio;

  private final Locus locus;

  /** First and number of the addresses that the thread may touch. */
  private final long reachStart;

  private final long reachBytes;

  DirectThreadPort(AddressSpace memory, MmioPages mmio, Locus locus) {
    this.memory = memory;
    this.mmio = mmio;
    this.locus = locus;
    this.reachStart = memory.reachStart(locus.rank());
    this.reachBytes = memory.reachBytes();
  }

  private boolean accessible(long address, int bytes) {
    return Long.compareUnsigned(address - reachStart, reachBytes) < 0
        && memory.accessible(address, bytes);
  }

  @Override
  public long load8(long address, int access) {
    if (!accessible(address, 1)) {
      return loadRegister(address, 1);
    }
    return switch (access & Access.SEMANTICS) {
      case Access.WEAK, Access.NON_COHERENT -> RawMemory.getByte(address) & 0xffL;
      case Access.ACQUIRE -> RawMemory.getByteAcquire(address) & 0xffL;
      default -> RawMemory.getByteOpaque(address) & 0xffL;
    };
  }

  @Override
  public long load16(long address, int access) {
    if (!accessible(address, 2)) {
      return loadRegister(address, 2);
    }
    return switch (access & Access.SEMANTICS) {
      case Access.WEAK, Access.NON_COHERENT -> RawMemory.getShort(address) & 0xffffL;
      case Access.ACQUIRE -> RawMemory.getShortAcquire(address) & 0xffffL;
      default -> RawMemory.getShortOpaque(address) & 0xffffL;
    };
  }

  @Override
  public long load32(long address, int access) {
    if (!accessible(address, 4)) {
      return loadRegister(address, 4);
    }
    return switch (access & Access.SEMANTICS) {
      case Access.WEAK, Access.NON_COHERENT -> RawMemory.getInt(address) & 0xffffffffL;
      case Access.ACQUIRE -> RawMemory.getIntAcquire(address) & 0xffffffffL;
      default -> RawMemory.getIntOpaque(address) & 0xffffffffL;
    };
  }

  @Override
  public long load64(long address, int access) {
    if (!accessible(address, 8)) {
      return loadRegister(address, 8);
    }
    return switch (access & Access.SEMANTICS) {
      case Access.WEAK, Access.NON_COHERENT -> RawMemory.getLong(address);
      case Access.ACQUIRE -> RawMemory.getLongAcquire(address);
      default -> RawMemory.getLongOpaque(address);
    };
  }

  @Override
  public long load128(long address, int access) {
    if (!accessible(address, 16)) {
      throw memory.fault("load", address, 16, locus);
    }
    if ((access & Access.SEMANTICS) == Access.WEAK) {
      high = RawMemory.getLong(address + Long.BYTES);
      return RawMemory.getLong(address);
    }
    long low = RawMemory.getLongAcquire(address);
    high = RawMemory.getLongAcquire(address + Long.BYTES);
    return low;
  }

  @Override
  public void store8(long address, long value, int access) {
    if (!accessible(address, 1)) {
      storeRegister(address, 1, value, 0);
      return;
    }
    switch (access & Access.SEMANTICS) {
      case Access.WEAK -> RawMemory.putByte(address, (byte) value);
      case Access.RELEASE -> RawMemory.putByteRelease(address, (byte) value);
      default -> RawMemory.putByteOpaque(address, (byte) value);
    }
  }

  @Override
  public void store16(long address, long value, int access) {
    if (!accessible(address, 2)) {
      storeRegister(address, 2, value, 0);
      return;
    }
    switch (access & Access.SEMANTICS) {
      case Access.WEAK -> RawMemory.putShort(address, (short) value);
      case Access.RELEASE -> RawMemory.putShortRelease(address, (short) value);
      default -> RawMemory.putShortOpaque(address, (short) value);
    }
  }

  @Override
  public void store32(long address, long value, int access) {
    if (!accessible(address, 4)) {
      storeRegister(address, 4, value, 0);
      return;
    }
    switch (access & Access.SEMANTICS) {
      case Access.WEAK -> RawMemory.putInt(address, (int) value);
      case Access.RELEASE -> RawMemory.putIntRelease(address, (int) value);
      default -> RawMemory.putIntOpaque(address, (int) value);
    }
  }

  @Override
  public void store64(long address, long value, int access) {
    if (!accessible(address, 8)) {
      storeRegister(address, 8, value, 0);
      return;
    }
    switch (access & Access.SEMANTICS) {
      case Access.WEAK -> RawMemory.putLong(address, value);
      case Access.RELEASE -> RawMemory.putLongRelease(address, value);
      default -> RawMemory.putLongOpaque(address, value);
    }
  }

  @Override
  public void store128(long address, long low, long high, int access) {
    if (!accessible(address, 16)) {
      storeRegister(address, 16, low, high);
      return;
    }
    if ((access & Access.SEMANTICS) == Access.WEAK) {
      RawMemory.putLong(address, low);
      RawMemory.putLong(address + Long.BYTES, high);
    } else {
      RawMemory.putLongRelease(address, low);
      RawMemory.putLongRelease(address + Long.BYTES, high);
    }
  }

  @Override
  public long atomic(
      Rmw operation, long address, int bytes, long operand, long compare, int access) {
    if (!accessible(address, bytes)) {
      throw memory.fault("atomic", address, bytes, locus);
    }
    if (bytes == Long.BYTES) {
      return atomic64(operation, address, operand, compare);
    }
    return atomicWithinWord(operation, address, bytes, operand, compare);
  }

  private static long atomic64(Rmw operation, long address, long operand, long compare) {
    if (operation == Rmw.ADD) {
      return RawMemory.getAndAddLong(address, operand);
    }
    if (operation == Rmw.COMPARE_AND_SWAP) {
      return RawMemory.compareAndExchangeLong(address, compare, operand);
    }
    long old = RawMemory.getLongOpaque(address);
    while (true) {
      long seen =
          RawMemory.compareAndExchangeLong(
              address, old, operation.apply(old, Long.BYTES, operand, compare));
      if (seen == old) {
        return old;
      }
      old = seen;
    }
  }

  /** Cells of 4 bytes and less, by compare-and-exchange of the 4-byte word around them. */
  private static long atomicWithinWord(
      Rmw operation, long address, int bytes, long operand, long compare) {
    long word = address & -Integer.BYTES;
    int shift = (int) (address - word) * Byte.SIZE;
    long mask = (1L << (bytes * Byte.SIZE)) - 1;
    int old = RawMemory.getIntOpaque(word);
    while (true) {
      long cell = (old >>> shift) & mask;
      long changed = operation.apply(cell, bytes, operand, compare);
      int next = (int) ((old & ~(mask << shift)) | changed << shift);
      int seen = RawMemory.compareAndExchangeInt(word, old, next);
      if (seen == old) {
        return cell;
      }
      old = seen;
    }
  }

  @Override
  public long exchange128(long address, long low, long high, int access) {
    return swap128(address, true, 0, 0, low, high);
  }

  @Override
  public long compareAndSwap128(
      long address, long expectedLow, long expectedHigh, long low, long high, int access) {
    return swap128(address, false, expectedLow, expectedHigh, low, high);
  }

  /** Java has no atomics of 16 bytes: one lock for all of them in a world. */
  private long swap128(
      long address, boolean always, long expectedLow, long expectedHigh, long low, long upper) {
    if (!accessible(address, 16)) {
      throw memory.fault("atomic", address, 16, locus);
    }
    synchronized (memory) {
      long oldLow = RawMemory.getLongAcquire(address);
      high = RawMemory.getLongAcquire(address + Long.BYTES);
      if (always || (oldLow == expectedLow && high == expectedHigh)) {
        RawMemory.putLongRelease(address, low);
        RawMemory.putLongRelease(address + Long.BYTES, upper);
      }
      VarHandle.fullFence();
      return oldLow;
    }
  }

  @Override
  public void fence(int access) {
    if ((access & Access.SEMANTICS) == Access.SC) {
      VarHandle.fullFence();
    } else {
      VarHandle.releaseFence();
      VarHandle.acquireFence();
    }
  }

  @Override
  public void executed(int instructions) {
    // Time passes by itself.
  }

  @Override
  public void spend(long nanos) {
    // A thread that sleeps gives way to the others at the end of its step.
  }

  @Override
  public void pollFailed(long atMostNanos) {
    // Polling goes on at the next step.
  }

  @Override
  public long now() {
    return System.nanoTime();
  }

  private long loadRegister(long address, int bytes) {
    if (mmio.target(address) == null) {
      throw memory.fault("load", address, bytes, locus);
    }
    return switch (bytes) {
      case 1 -> RawMemory.getByteOpaque(address) & 0xffL;
      case 2 -> RawMemory.getShortOpaque(address) & 0xffffL;
      case 4 -> RawMemory.getIntOpaque(address) & 0xffffffffL;
      default -> RawMemory.getLongOpaque(address);
    };
  }

  private void storeRegister(long address, int bytes, long low, long high) {
    if (!mmio.store(address, bytes, low, high)) {
      throw memory.fault("store", address, bytes, locus);
    }
  }
}
