package dev.doorbell.core.mlx5.generated;

import dev.doorbell.core.memory.BigEndian;
import javax.annotation.processing.Generated;

/**
 * The address of a peer's memory: {@code struct mlx5_wqe_raddr_seg}. Big-endian. The last word may
 * have any content: GPUNetIO does not write it.
 *
 * <p>Written by FormatsTest from src/main/formats/mlx5.txt.
 */
@Generated("FormatsTest")
public class RemoteAddressSegment {
  /** Bytes of the structure. */
  public static final int BYTES = 16;

  public static final int ADDRESS_OFFSET = 0x00;

  public static final int RKEY_OFFSET = 0x08;

  /** The fields that {@code FieldTable.rows} shows. */
  public static final String ROWS =
"""
0 63 0 raddr|
8 31 8 rkey: index|
8 7 0 rkey: tag|
12 31 0 reserved|ignored
""";

  protected RemoteAddressSegment() {}

  /** The address at the peer. */
  public static long address(long at) {
    return BigEndian.getLong(at);
  }

  /** The peer's key. */
  public static int rkey(long at) {
    return BigEndian.getInt(at + 0x08);
  }

  /** Writes all 16 bytes, the reserved word as 0. */
  public static void write(long at, long address, int rkey) {
    BigEndian.putLong(at, address);
    BigEndian.putLong(at + 0x08, (long) rkey << 32);
  }

  /** Shows the fields in one line. */
  public static String line(long at) {
    return "raddr=0x%x rkey=0x%08x".formatted(address(at), rkey(at));
  }
}
