package dev.doorbell.core.fabric.timed.interconnect;

import dev.doorbell.core.memory.RawMemory;

/**
 * Loads and stores of 1 to 8 bytes. One host thread runs a timed world, so that plain access is
 * enough inside; release and acquire are for host code that reads along.
 */
public final class Cells {
  private Cells() {}

  /** Loads a cell, zero-extended. */
  public static long load(long address, int bytes) {
    return switch (bytes) {
      case 1 -> RawMemory.getByteAcquire(address) & 0xffL;
      case 2 -> RawMemory.getShortAcquire(address) & 0xffffL;
      case 4 -> RawMemory.getIntAcquire(address) & 0xffffffffL;
      default -> RawMemory.getLongAcquire(address);
    };
  }

  public static void store(long address, int bytes, long value) {
    switch (bytes) {
      case 1 -> RawMemory.putByteRelease(address, (byte) value);
      case 2 -> RawMemory.putShortRelease(address, (short) value);
      case 4 -> RawMemory.putIntRelease(address, (int) value);
      default -> RawMemory.putLongRelease(address, value);
    }
  }
}
