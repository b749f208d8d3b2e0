package dev.doorbell.core.mlx5;

import dev.doorbell.core.memory.BigEndian;
import dev.doorbell.core.memory.RawMemory;

/**
 * The control segment, first 16 bytes of every WQE: {@code struct mlx5_wqe_ctrl_seg} of rdma-core
 * providers/mlx5/mlx5dv.h. Big-endian; byte 0 is at the left of the first row.
 *
 * <pre>
 *   31            24 23                            8 7             0
 *  +----------------+-------------------------------+---------------+
 *  |     opmod      |           wqe_index           |    opcode     |  0
 *  +----------------+-------------------------------+---+-----------+
 *  |                      qpn                       | 0 |    ds     |  4
 *  +----------------+-------------------------------+---+-----------+
 *  |   signature    |    dci_stream_channel_id      |   fm_ce_se    |  8
 *  +----------------+-------------------------------+---------------+
 *  |              imm / invalidated rkey / UMR mkey                 | 12
 *  +----------------------------------------------------------------+
 *
 *  fm_ce_se:  7     5 4   3     2   1   0
 *            +-------+---+-------+----+---+
 *            | fence | 0 |  ce   | se | 0 |
 *            +-------+---+-------+----+---+
 * </pre>
 *
 * <p>Addresses are native ones that the caller has checked.
 */
public final class ControlSegment {
  /** Bytes of the segment. */
  public static final int BYTES = 16;

  /** {@code opmod_idx_opcode}, bits 31:24. */
  public static final int OPMOD_OFFSET = 0;

  /** {@code opmod_idx_opcode}, bits 23:8. */
  public static final int WQE_INDEX_OFFSET = 1;

  /** {@code opmod_idx_opcode}, bits 7:0. */
  public static final int OPCODE_OFFSET = 3;

  /** {@code qpn_ds}: number in bits 31:8, count of 16-byte units in bits 5:0. */
  public static final int QPN_DS_OFFSET = 4;

  /** Byte of {@code qpn_ds} that holds the count of 16-byte units. */
  public static final int DS_OFFSET = 7;

  /** {@code signature}. */
  public static final int SIGNATURE_OFFSET = 8;

  /** {@code fm_ce_se}. */
  public static final int FM_CE_SE_OFFSET = 11;

  /** {@code imm}. */
  public static final int IMMEDIATE_OFFSET = 12;

  /** The largest WQE, in 16-byte units. */
  public static final int MAX_DS = 0x3f;

  /** Solicited: the peer's completion counts as one for which it armed solicited-only. */
  public static final int SOLICITED = 0x02;

  /** CE 0: a CQE only when the work request fails. */
  public static final int COMPLETE_ON_ERROR = 0x00;

  /** CE 1: a CQE when it is the first that fails. */
  public static final int COMPLETE_ON_FIRST_ERROR = 0x04;

  /** CE 2: always a CQE ({@code MLX5_WQE_CTRL_CQ_UPDATE}). */
  public static final int CQ_UPDATE = 0x08;

  /** CE 3: always a CQE, and an event. */
  public static final int CQ_UPDATE_AND_EVENT = 0x0c;

  /** The completion bits of {@code fm_ce_se}. */
  public static final int COMPLETION_MASK = 0x0c;

  /** Fence mode 0. */
  public static final int FENCE_NONE = 0x00;

  /** Fence mode 1 ({@code MLX5_WQE_CTRL_INITIATOR_SMALL_FENCE}). */
  public static final int FENCE_INITIATOR_SMALL = 0x20;

  /**
   * Fence mode 2: waits for the READs and atomics before it. What IBGDA and GPUNetIO call FENCE.
   */
  public static final int FENCE_READS = 0x40;

  /** Fence mode 3, strong ordering. */
  public static final int FENCE_STRONG_ORDERING = 0x60;

  /**
   * Fence mode 4, fence and small fence: what rdma-core calls {@code MLX5_WQE_CTRL_FENCE}, set by
   * libmlx5 for {@code IBV_SEND_FENCE}.
   */
  public static final int FENCE_READS_AND_SMALL = 0x80;

  /** The fence bits of {@code fm_ce_se}. */
  public static final int FENCE_MASK = 0xe0;

  private static final int QPN_SHIFT = 8;

  private ControlSegment() {}

  /** Modifier of the opcode: {@link MaskedAtomicSegment#OPMOD_4_BYTES} and the like, else 0. */
  public static int opmod(long address) {
    return RawMemory.getByte(address + OPMOD_OFFSET) & 0xff;
  }

  /** Low 16 bits of the index of the WQE's first block. */
  public static int wqeIndex(long address) {
    return BigEndian.getShort(address + WQE_INDEX_OFFSET) & 0xffff;
  }

  /** See {@link Opcode}. */
  public static int opcode(long address) {
    return RawMemory.getByte(address + OPCODE_OFFSET) & 0xff;
  }

  /** The 24-bit queue pair number. */
  public static int qpn(long address) {
    return BigEndian.getInt(address + QPN_DS_OFFSET) >>> QPN_SHIFT;
  }

  /** Length of the WQE in units of 16 bytes, this segment included; 0 to 63. */
  public static int ds(long address) {
    return RawMemory.getByte(address + DS_OFFSET) & MAX_DS;
  }

  /** XOR signature; means something only where the queue pair was made with signatures. */
  public static int signature(long address) {
    return RawMemory.getByte(address + SIGNATURE_OFFSET) & 0xff;
  }

  /** Fence, completion and solicited bits; see {@link #fence} and {@link #completionMode}. */
  public static int fmCeSe(long address) {
    return RawMemory.getByte(address + FM_CE_SE_OFFSET) & 0xff;
  }

  /** Immediate data, the rkey to invalidate, or the mkey of a UMR, in host order. */
  public static int immediate(long address) {
    return BigEndian.getInt(address + IMMEDIATE_OFFSET);
  }

  /** The fence bits of {@code fmCeSe}, in place: one of {@code FENCE_*}. */
  public static int fence(int fmCeSe) {
    return fmCeSe & FENCE_MASK;
  }

  /** The completion bits of {@code fmCeSe}, in place: {@link #CQ_UPDATE} and its neighbours. */
  public static int completionMode(int fmCeSe) {
    return fmCeSe & COMPLETION_MASK;
  }

  /** True when a success is reported with a CQE. */
  public static boolean isSignalled(int fmCeSe) {
    return (fmCeSe & CQ_UPDATE) != 0;
  }

  /** True when the solicited bit is set. */
  public static boolean isSolicited(int fmCeSe) {
    return (fmCeSe & SOLICITED) != 0;
  }

  /**
   * Writes all 16 bytes; signature and stream channel are 0.
   *
   * @param wqeIndex low 16 bits count
   * @param qpn low 24 bits count
   * @param ds low 6 bits count
   * @param imm in host order
   */
  public static void write(
      long address, int opmod, int wqeIndex, int opcode, int qpn, int ds, int fmCeSe, int imm) {
    int first = opmod << 24 | (wqeIndex & 0xffff) << 8 | (opcode & 0xff);
    int second = qpn << QPN_SHIFT | (ds & MAX_DS);
    BigEndian.putLong(address, (long) first << 32 | (second & 0xffffffffL));
    BigEndian.putLong(
        address + SIGNATURE_OFFSET, (long) (fmCeSe & 0xff) << 32 | (imm & 0xffffffffL));
  }
}
