package dev.doorbell.core.mlx5.generated;

import dev.doorbell.core.memory.BigEndian;
import dev.doorbell.core.memory.RawMemory;
import javax.annotation.processing.Generated;

/**
 * The control segment, first 16 bytes of every WQE: {@code struct mlx5_wqe_ctrl_seg}. Big-endian.
 *
 * <p>Written by FormatsTest from src/main/formats/mlx5.txt.
 */
@Generated("FormatsTest")
public class ControlFields {
  /** Bytes of the structure. */
  public static final int BYTES = 16;

  public static final int OPMOD_OFFSET = 0x00;

  public static final int WQE_INDEX_OFFSET = 0x01;

  public static final int OPCODE_OFFSET = 0x03;

  public static final int QPN_DS_OFFSET = 0x04;

  public static final int DS_OFFSET = 0x07;

  public static final int SIGNATURE_OFFSET = 0x08;

  public static final int FM_CE_SE_OFFSET = 0x0b;

  public static final int IMMEDIATE_OFFSET = 0x0c;

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

  /** Fence mode 2: waits for the READs and atomics before it; FENCE of IBGDA and GPUNetIO. */
  public static final int FENCE_READS = 0x40;

  /** Fence mode 3, strong ordering. */
  public static final int FENCE_STRONG_ORDERING = 0x60;

  /**
   * Fence mode 4, fence and small fence ({@code MLX5_WQE_CTRL_FENCE}), set by libmlx5 for {@code
   * IBV_SEND_FENCE}.
   */
  public static final int FENCE_READS_AND_SMALL = 0x80;

  /** The fence bits of {@code fm_ce_se}. */
  public static final int FENCE_MASK = 0xe0;

  /** The fields that {@code FieldTable.rows} shows. */
  public static final String ROWS =
"""
0 31 24 opmod|
0 23 8 wqe_index|
0 7 0 opcode|
4 31 8 qpn|
4 7 6 reserved|
4 5 0 ds|
8 31 24 signature|
8 23 8 dci_stream_channel_id|
8 7 5 fm_ce_se: fence|
8 4 4 fm_ce_se: reserved|
8 3 2 fm_ce_se: completion|
8 1 1 fm_ce_se: solicited|
8 0 0 fm_ce_se: reserved|
12 31 0 imm|
""";

  protected ControlFields() {}

  /** Modifier of the opcode: {@code MaskedAtomicSegment.OPMOD_4_BYTES} and the like, else 0. */
  public static int opmod(long at) {
    return RawMemory.getByte(at) & 0xff;
  }

  /** Low 16 bits of the index of the WQE's first block. */
  public static int wqeIndex(long at) {
    return BigEndian.getShort(at + 0x01) & 0xffff;
  }

  /** See {@code Opcode}. */
  public static int opcode(long at) {
    return RawMemory.getByte(at + 0x03) & 0xff;
  }

  /** The 24-bit queue pair number. */
  public static int qpn(long at) {
    return BigEndian.getInt(at + 0x04) >>> 8;
  }

  /** Length of the WQE in units of 16 bytes, this segment included; 0 to 63. */
  public static int ds(long at) {
    return RawMemory.getByte(at + 0x07) & 0x3f;
  }

  /** XOR signature, valid where the queue pair was created with signatures. */
  public static int signature(long at) {
    return RawMemory.getByte(at + 0x08) & 0xff;
  }

  /** Fence, completion and solicited bits. */
  public static int fmCeSe(long at) {
    return RawMemory.getByte(at + 0x0b) & 0xff;
  }

  /** Immediate data, the rkey to invalidate, or the mkey of a UMR, in host order. */
  public static int immediate(long at) {
    return BigEndian.getInt(at + 0x0c);
  }

  /** Writes all 16 bytes; signature and stream channel are 0. */
  public static void write(
      long at, int opmod, int wqeIndex, int opcode, int qpn, int ds, int fmCeSe, int immediate) {
    BigEndian.putLong(
        at,
        (long) opmod << 56
            | (wqeIndex & 0xffffL) << 40
            | (opcode & 0xffL) << 32
            | (qpn & 0xffffffL) << 8
            | (ds & 0x3fL));
    BigEndian.putLong(at + 0x08, (fmCeSe & 0xffL) << 32 | (immediate & 0xffffffffL));
  }

  /** Names the fence bits of {@code fm_ce_se}. */
  public static String fenceName(int code) {
    return switch (code) {
      case FENCE_NONE -> "none";
      case FENCE_INITIATOR_SMALL -> "initiator-small";
      case FENCE_READS -> "reads";
      case FENCE_STRONG_ORDERING -> "strong-ordering";
      case FENCE_READS_AND_SMALL -> "reads+small";
      default -> "undefined";
    };
  }

  /** Names the completion bits of {@code fm_ce_se}. */
  public static String completionName(int code) {
    return switch (code) {
      case COMPLETE_ON_FIRST_ERROR -> "unsignalled (first error only)";
      case CQ_UPDATE -> "signalled";
      case CQ_UPDATE_AND_EVENT -> "signalled+event";
      default -> "unsignalled";
    };
  }

  /** Explains the completion bits of {@code fm_ce_se}. */
  public static String completionMeaning(int code) {
    return switch (code) {
      case COMPLETE_ON_FIRST_ERROR -> "a CQE on the first error";
      case CQ_UPDATE -> "always a CQE";
      case CQ_UPDATE_AND_EVENT -> "always a CQE, and an event";
      default -> "a CQE on error";
    };
  }
}
