package dev.doorbell.core.mlx5.generated;

import dev.doorbell.core.memory.BigEndian;
import dev.doorbell.core.memory.RawMemory;
import javax.annotation.processing.Generated;

/**
 * The fields in which a CQE of an error ({@code struct mlx5_err_cqe}) differs from others.
 * Big-endian.
 *
 * <p>Written by FormatsTest from src/main/formats/mlx5.txt.
 */
@Generated("FormatsTest")
public class ErrorCqeFields {
  /** Bytes of the structure. */
  public static final int BYTES = 64;

  public static final int HARDWARE_SYNDROME_OFFSET = 0x34;

  public static final int HARDWARE_SYNDROME_TYPE_OFFSET = 0x35;

  public static final int VENDOR_SYNDROME_OFFSET = 0x36;

  public static final int SYNDROME_OFFSET = 0x37;

  public static final int WQE_COUNTER_OFFSET = 0x3c;

  /** The fields that {@code FieldTable.rows} shows. */
  public static final String ROWS =
"""
0 -1 32 reserved|
32 31 0 srqn|
36 -1 16 reserved|
52 31 24 hw_err_synd|
52 23 16 hw_synd_type|
52 15 8 vendor_err_synd|
52 7 0 syndrome|
""";

  protected ErrorCqeFields() {}

  /** The hardware's own code. */
  public static int hardwareSyndrome(long at) {
    return RawMemory.getByte(at + 0x34) & 0xff;
  }

  /** The type of {@link #hardwareSyndrome}. */
  public static int hardwareSyndromeType(long at) {
    return RawMemory.getByte(at + 0x35) & 0xff;
  }

  /** The vendor's own code. */
  public static int vendorSyndrome(long at) {
    return RawMemory.getByte(at + 0x36) & 0xff;
  }

  /** The reason; see {@code Syndrome}. */
  public static int syndrome(long at) {
    return RawMemory.getByte(at + 0x37) & 0xff;
  }

  /** The opcode of the failed WQE. */
  public static int wqeOpcode(long at) {
    return BigEndian.getInt(at + 0x38) >>> 24;
  }

  /** The 24-bit number of the queue pair. */
  public static int qpn(long at) {
    return BigEndian.getInt(at + 0x38) & 0xffffff;
  }

  /** 16-bit index of the failed WQE. */
  public static int wqeCounter(long at) {
    return BigEndian.getShort(at + 0x3c) & 0xffff;
  }
}
