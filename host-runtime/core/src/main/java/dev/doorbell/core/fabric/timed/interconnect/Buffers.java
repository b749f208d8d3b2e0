package dev.doorbell.core.fabric.timed.interconnect;

import java.lang.foreign.Arena;
import java.util.Arrays;

/** Native memory for the bytes of TLPs in flight, in two sizes that are reused. */
public final class Buffers {
  /** Bytes of a buffer for a combined store. */
  public static final int LINE = 128;

  /** Bytes of a buffer for a piece of a DMA transfer. */
  public static final int CHUNK = 4096;

  /** What a node takes at a time: there may be hundreds of nodes. */
  private static final int SLAB = 64 * 1024;

  private final Arena arena = Arena.ofShared();
  private long[] lines = new long[256];
  private int lineCount;
  private long[] chunks = new long[64];
  private int chunkCount;

  /** A buffer of at least {@code bytes} bytes, at most {@link #CHUNK}. */
  public long take(int bytes) {
    if (bytes <= LINE) {
      if (lineCount == 0) {
        lines = refill(lines, LINE);
        lineCount = SLAB / LINE;
      }
      return lines[--lineCount];
    }
    if (chunkCount == 0) {
      chunks = refill(chunks, CHUNK);
      chunkCount = SLAB / CHUNK;
    }
    return chunks[--chunkCount];
  }

  /** Gives back what {@link #take} gave for {@code bytes}. */
  public void give(long buffer, int bytes) {
    if (bytes <= LINE) {
      if (lineCount == lines.length) {
        lines = Arrays.copyOf(lines, lineCount * 2);
      }
      lines[lineCount++] = buffer;
    } else {
      if (chunkCount == chunks.length) {
        chunks = Arrays.copyOf(chunks, chunkCount * 2);
      }
      chunks[chunkCount++] = buffer;
    }
  }

  private long[] refill(long[] stack, int size) {
    int count = SLAB / size;
    long[] filled = stack.length >= count ? stack : new long[count];
    long base = arena.allocate(SLAB, size).address();
    for (int i = 0; i < count; i++) {
      filled[i] = base + (long) i * size;
    }
    return filled;
  }

  void close() {
    arena.close();
  }
}
