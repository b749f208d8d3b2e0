package dev.doorbell.core.mlx5;

import dev.doorbell.core.memory.RawMemory;

/**
 * Geometry of a send ring: 64-byte blocks ({@code MLX5_SEND_WQE_BB}, rdma-core
 * providers/mlx5/mlx5.h), counted by an index that never stops and of which hardware sees 16 bits.
 * A WQE takes one block or more and may run over the end of the ring.
 */
public final class SendQueue {
  public static final int BLOCK = 64;

  public static final int BLOCK_SHIFT = 6;

  /** Bytes of the unit that the DS field counts. */
  public static final int UNIT = 16;

  public static final int UNIT_SHIFT = 4;

  public static final int UNITS_PER_BLOCK = BLOCK / UNIT;

  /** The largest ring: half of what 16 bits count, so that full and empty differ. */
  public static final int MAX_BLOCKS = 32_768;

  /** The bits of an index that hardware sees. */
  public static final int INDEX_MASK = 0xffff;

  private SendQueue() {}

  /** Blocks that a WQE of {@code ds} 16-byte units takes. */
  public static int blocks(int ds) {
    return (ds + UNITS_PER_BLOCK - 1) >>> 2;
  }

  /** True when a ring may have this number of blocks: a power of two up to {@link #MAX_BLOCKS}. */
  public static boolean isLegalSize(int blocks) {
    return blocks > 0 && blocks <= MAX_BLOCKS && (blocks & (blocks - 1)) == 0;
  }

  public static int slot(long index, int ringBlocks) {
    return (int) index & (ringBlocks - 1);
  }

  public static long blockAddress(long ring, int ringBlocks, long index) {
    return ring + ((long) slot(index, ringBlocks) << BLOCK_SHIFT);
  }

  /**
   * The address of 16-byte unit {@code unit} of the WQE that starts at block {@code index}; units
   * past the end of the ring lie at its start. No unit is ever split.
   */
  public static long unitAddress(long ring, int ringBlocks, long index, int unit) {
    int bytes = ((int) index << BLOCK_SHIFT) + (unit << UNIT_SHIFT);
    return ring + (bytes & ((ringBlocks << BLOCK_SHIFT) - 1));
  }

  /** Blocks from the 16-bit index {@code from} to the 16-bit index {@code to}, modulo 2^16. */
  public static int distance(int from, int to) {
    return (to - from) & INDEX_MASK;
  }

  /**
   * The full index nearest to {@code reference} whose low 16 bits are {@code index16}: what a
   * hardware field means to code that counts in 64 bits.
   */
  public static long extend(long reference, int index16) {
    return reference + (short) (index16 - (int) reference);
  }

  /**
   * Copies a WQE of {@code ds} units into the ring.
   *
   * @param source native address of {@code 16 * ds} bytes
   */
  public static void copyIn(long ring, int ringBlocks, long index, int ds, long source) {
    long start = blockAddress(ring, ringBlocks, index);
    long bytes = (long) ds << UNIT_SHIFT;
    long untilEnd = ring + ((long) ringBlocks << BLOCK_SHIFT) - start;
    long first = Math.min(bytes, untilEnd);
    RawMemory.copy(source, start, first);
    if (first < bytes) {
      RawMemory.copy(source + first, ring, bytes - first);
    }
  }
}
