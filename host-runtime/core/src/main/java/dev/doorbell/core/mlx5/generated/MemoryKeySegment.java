package dev.doorbell.core.mlx5.generated;

import dev.doorbell.core.memory.BigEndian;
import javax.annotation.processing.Generated;

/**
 * The memory key that UMR changes: {@code struct mlx5_wqe_mkey_context_seg}. Big-endian.
 *
 * <p>Written by FormatsTest from src/main/formats/mlx5.txt.
 */
@Generated("FormatsTest")
public class MemoryKeySegment {
  /** Bytes of the structure. */
  public static final int BYTES = 64;

  public static final int ACCESS_OFFSET = 0x00;

  public static final int NUMBER_OFFSET = 0x04;

  public static final int ADDRESS_OFFSET = 0x10;

  public static final int LENGTH_OFFSET = 0x18;

  /** {@code MLX5_WQE_MKEY_CONTEXT_ACCESS_FLAGS_REMOTE_READ}. */
  public static final int REMOTE_READ = 1 << 4;

  public static final int REMOTE_WRITE = 1 << 5;

  public static final int ATOMIC = 1 << 6;

  /** The queue pair number of a key that all queue pairs of its domain may use. */
  public static final int ANY_QUEUE_PAIR = 0xff_ffff;

  /** The fields that {@code FieldTable.rows} shows. */
  public static final String ROWS =
"""
0 30 30 free|
0 15 8 access|
4 31 8 qpn|
4 7 0 mkey 7:0|
8 -1 8 other fields|
16 63 0 start address|
24 63 0 length|
32 -1 32 other fields|
""";

  protected MemoryKeySegment() {}

  /** True when the key names nothing from now on. */
  public static boolean isFree(long at) {
    return (BigEndian.getInt(at) >>> 30 & 1) != 0;
  }

  /** {@link #REMOTE_READ}, {@link #REMOTE_WRITE}, {@link #ATOMIC}, and local rights. */
  public static int access(long at) {
    return BigEndian.getInt(at) >>> 8 & 0xff;
  }

  /** The queue pair that may use the key, or {@link #ANY_QUEUE_PAIR}. */
  public static int queuePair(long at) {
    return BigEndian.getInt(at + 0x04) >>> 8;
  }

  /** The lowest 8 bits of the key. */
  public static int variant(long at) {
    return BigEndian.getInt(at + 0x04) & 0xff;
  }

  /** The address by which work requests name the first byte. */
  public static long startAddress(long at) {
    return BigEndian.getLong(at + 0x10);
  }

  /** Bytes of the region. */
  public static long length(long at) {
    return BigEndian.getLong(at + 0x18);
  }

  /** Shows the fields in one line. */
  public static String line(long at) {
    return "start=0x%x length=%d access=0x%02x qpn=0x%06x"
        .formatted(startAddress(at), length(at), access(at), queuePair(at));
  }
}
