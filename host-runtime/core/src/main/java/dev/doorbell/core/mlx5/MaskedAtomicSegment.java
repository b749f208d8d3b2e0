package dev.doorbell.core.mlx5;

import dev.doorbell.core.memory.BigEndian;

/**
 * The operands of the masked ("extended") atomics {@link Opcode#ATOMIC_MASKED_FA} and {@link
 * Opcode#ATOMIC_MASKED_CS}, in four shapes chosen by opcode and opmod: {@code struct
 * mlx5_wqe_masked_atomic_seg} (rdma-core providers/mlx5/wqe.h) for 8 bytes; {@code
 * ibgda_device.cuh} (nvshmem) for 4. Big-endian.
 *
 * <pre>
 *   63                             32 31                             0
 *  +---------------------------------+--------------------------------+
 *  |              add                |         field boundary         |  0  FA, 4 bytes
 *  |                         reserved                                 |  8
 *  +---------------------------------+--------------------------------+
 *  |                            add                                   |  0  FA, 8 bytes
 *  |                       field boundary                             |  8
 *  +---------------------------------+--------------------------------+
 *  |             swap                |            compare             |  0  CS, 4 bytes
 *  |           swap mask             |          compare mask          |  8
 *  +---------------------------------+--------------------------------+
 *  |                            swap                                  |  0  CS, 8 bytes
 *  |                          compare                                 |  8
 *  |                         swap mask                                | 16
 *  |                        compare mask                              | 24
 *  +------------------------------------------------------------------+
 * </pre>
 *
 * <p>A set bit of the field boundary stops the carry out of that bit: 0 is a plain addition, all
 * ones an exclusive or.
 */
public final class MaskedAtomicSegment {
  /** Control segment opmod of operations on 4 bytes. */
  public static final int OPMOD_4_BYTES = 0x08;

  /** Control segment opmod of operations on 8 bytes. */
  public static final int OPMOD_8_BYTES = 0x09;

  /** Bytes of every shape but the 8-byte compare-and-swap. */
  public static final int BYTES = 16;

  /** Bytes of the 8-byte compare-and-swap. */
  public static final int COMPARE_SWAP_8_BYTES = 32;

  private static final int ADD_4 = 0;
  private static final int BOUNDARY_4 = 4;
  private static final int ADD_8 = 0;
  private static final int BOUNDARY_8 = 8;
  private static final int SWAP_4 = 0;
  private static final int COMPARE_4 = 4;
  private static final int SWAP_MASK_4 = 8;
  private static final int COMPARE_MASK_4 = 12;
  private static final int SWAP_8 = 0;
  private static final int COMPARE_8 = 8;
  private static final int SWAP_MASK_8 = 16;
  private static final int COMPARE_MASK_8 = 24;

  private MaskedAtomicSegment() {}

  /** Width of the cell for an opmod: 4 or 8; 0 for any other opmod. */
  public static int cellBytes(int opmod) {
    return opmod == OPMOD_8_BYTES ? Long.BYTES : opmod == OPMOD_4_BYTES ? Integer.BYTES : 0;
  }

  /** Bytes of the operands for an opcode and the width of its cell. */
  public static int bytes(int opcode, int cellBytes) {
    return opcode == Opcode.ATOMIC_MASKED_CS && cellBytes == Long.BYTES
        ? COMPARE_SWAP_8_BYTES
        : BYTES;
  }

  /** Fetch-add, 4 bytes: what to add. */
  public static int add4(long address) {
    return BigEndian.getInt(address + ADD_4);
  }

  /** Fetch-add, 4 bytes: bits out of which nothing is carried. */
  public static int fieldBoundary4(long address) {
    return BigEndian.getInt(address + BOUNDARY_4);
  }

  /** Fetch-add, 8 bytes: what to add. */
  public static long add8(long address) {
    return BigEndian.getLong(address + ADD_8);
  }

  /** Fetch-add, 8 bytes: bits out of which nothing is carried. */
  public static long fieldBoundary8(long address) {
    return BigEndian.getLong(address + BOUNDARY_8);
  }

  /** Compare-and-swap, 4 bytes: the new bits. */
  public static int swap4(long address) {
    return BigEndian.getInt(address + SWAP_4);
  }

  /** Compare-and-swap, 4 bytes: the expected bits. */
  public static int compare4(long address) {
    return BigEndian.getInt(address + COMPARE_4);
  }

  /** Compare-and-swap, 4 bytes: which bits are replaced. */
  public static int swapMask4(long address) {
    return BigEndian.getInt(address + SWAP_MASK_4);
  }

  /** Compare-and-swap, 4 bytes: which bits are compared. */
  public static int compareMask4(long address) {
    return BigEndian.getInt(address + COMPARE_MASK_4);
  }

  /** Compare-and-swap, 8 bytes: the new bits. */
  public static long swap8(long address) {
    return BigEndian.getLong(address + SWAP_8);
  }

  /** Compare-and-swap, 8 bytes: the expected bits. */
  public static long compare8(long address) {
    return BigEndian.getLong(address + COMPARE_8);
  }

  /** Compare-and-swap, 8 bytes: which bits are replaced. */
  public static long swapMask8(long address) {
    return BigEndian.getLong(address + SWAP_MASK_8);
  }

  /** Compare-and-swap, 8 bytes: which bits are compared. */
  public static long compareMask8(long address) {
    return BigEndian.getLong(address + COMPARE_MASK_8);
  }

  /** Writes the 16 bytes of a 4-byte fetch-add. */
  public static void writeFetchAdd4(long address, int add, int fieldBoundary) {
    BigEndian.putInt(address + ADD_4, add);
    BigEndian.putInt(address + BOUNDARY_4, fieldBoundary);
    BigEndian.putLong(address + 8, 0);
  }

  /** Writes the 16 bytes of an 8-byte fetch-add. */
  public static void writeFetchAdd8(long address, long add, long fieldBoundary) {
    BigEndian.putLong(address + ADD_8, add);
    BigEndian.putLong(address + BOUNDARY_8, fieldBoundary);
  }

  /** Writes the 16 bytes of a 4-byte compare-and-swap. */
  public static void writeCompareSwap4(
      long address, int swap, int compare, int swapMask, int compareMask) {
    BigEndian.putInt(address + SWAP_4, swap);
    BigEndian.putInt(address + COMPARE_4, compare);
    BigEndian.putInt(address + SWAP_MASK_4, swapMask);
    BigEndian.putInt(address + COMPARE_MASK_4, compareMask);
  }

  /** Writes the 32 bytes of an 8-byte compare-and-swap. */
  public static void writeCompareSwap8(
      long address, long swap, long compare, long swapMask, long compareMask) {
    BigEndian.putLong(address + SWAP_8, swap);
    BigEndian.putLong(address + COMPARE_8, compare);
    BigEndian.putLong(address + SWAP_MASK_8, swapMask);
    BigEndian.putLong(address + COMPARE_MASK_8, compareMask);
  }
}
