package dev.doorbell.core.fabric;

import dev.doorbell.core.memory.RawMemory;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.jspecify.annotations.Nullable;

/**
 * Compares bytes with a pattern when they arrive in memory: what a later message covers is
 * compared, too.
 */
public final class ArrivalCheck implements ArrivalListener {
  private final long start;
  private final MemorySegment pattern;
  private long compared;
  private @Nullable String mismatch;

  /** Compares what arrives from the address {@code start} on with {@code pattern}. */
  public ArrivalCheck(long start, byte[] pattern) {
    this.start = start;
    this.pattern = MemorySegment.ofArray(pattern);
  }

  /** {@inheritDoc} What lies outside of the pattern is left out. */
  @Override
  public void arrived(long address, long bytes, long picos) {
    long from = Math.max(address, start);
    long count = Math.min(address + bytes, start + pattern.byteSize()) - from;
    if (count <= 0) {
      return;
    }
    compared += count;
    long wrong = RawMemory.mismatch(from, pattern, from - start, count);
    if (wrong >= 0 && mismatch == null) {
      long at = from - start + wrong;
      mismatch =
          "byte %d of the inbox was 0x%02x instead of 0x%02x after %,d bytes had arrived"
              .formatted(
                  at,
                  RawMemory.getByte(from + wrong) & 0xff,
                  pattern.get(ValueLayout.JAVA_BYTE, at) & 0xff,
                  compared - count + wrong);
    }
  }

  /** The number of bytes that were compared. */
  public long compared() {
    return compared;
  }

  /** The first byte that differed, in words, or null. */
  public @Nullable String mismatch() {
    return mismatch;
  }
}
