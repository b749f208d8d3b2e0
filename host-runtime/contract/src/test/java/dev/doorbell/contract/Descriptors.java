package dev.doorbell.contract;

import dev.doorbell.core.memory.RawMemory;

/** Writes GPI's descriptors as a GPU does. */
public final class Descriptors {
  private static final int SHORT_MASK = 0xffff;

  private Descriptors() {}

  /** Writes a transfer between memory of this GPU and of a peer. */
  public static void writeTransfer(
      long at,
      long lap,
      int operation,
      int flags,
      int size,
      int peer,
      int sourceHandle,
      long sourceOffset,
      int targetHandle,
      long targetOffset,
      int counter,
      int signal,
      long signalValue) {
    long owner = lap & 1;
    put(at, 0, header(operation, flags, counter, signal) | owner);
    put(at, 1, (long) size << 32 | (peer & 0x7fff_ffffL) << 1 | owner);
    put(at, 2, signalValue << 32 | (long) targetHandle << 16 | owner);
    put(at, 3, (signalValue & 0xffff_ffff_0000_0000L) | (long) sourceHandle << 16 | owner);
    put(at, 4, targetOffset << 1 | owner);
    put(at, 5, sourceOffset << 1 | owner);
    put(at, 6, owner);
    put(at, 7, owner);
  }

  /** Writes a command that brings its data along, or adds it. */
  public static void writeInline(
      long at,
      long lap,
      int operation,
      int flags,
      int size,
      int peer,
      long data,
      int targetHandle,
      long targetOffset,
      int counter,
      int signal,
      long signalValue) {
    writeTransfer(
        at,
        lap,
        operation,
        flags,
        size,
        peer,
        0,
        0,
        targetHandle,
        targetOffset,
        counter,
        signal,
        signalValue);
    long owner = lap & 1;
    put(at, 6, data << 32 | owner);
    put(at, 7, (data & 0xffff_ffff_0000_0000L) | owner);
  }

  private static long header(int operation, int flags, int counter, int signal) {
    return (long) signal << 48
        | (long) (counter & SHORT_MASK) << 32
        | (long) (flags & 0xff) << 24
        | (long) (operation & 0xff) << 16;
  }

  private static void put(long at, int number, long value) {
    RawMemory.putLong(at + 8L * number, value);
  }
}
