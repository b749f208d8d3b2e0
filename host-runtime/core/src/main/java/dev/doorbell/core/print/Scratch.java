package dev.doorbell.core.print;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.function.LongFunction;

/** Bytes of the heap at a native address for the length of a call, followed by zeroes. */
public final class Scratch {
  private static final int SMALLEST = 64;

  private Scratch() {}

  /** Calls {@code function} with the address of a copy of {@code bytes}, at least 64 long. */
  public static <T> T with(byte[] bytes, LongFunction<T> function) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment copy = arena.allocate(Math.max(bytes.length, SMALLEST), 64);
      MemorySegment.copy(bytes, 0, copy, ValueLayout.JAVA_BYTE, 0, bytes.length);
      return function.apply(copy.address());
    }
  }
}
