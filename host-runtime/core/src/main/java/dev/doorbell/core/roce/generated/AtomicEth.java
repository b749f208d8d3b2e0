package dev.doorbell.core.roce.generated;

import dev.doorbell.core.memory.BigEndian;
import javax.annotation.processing.Generated;

/**
 * The extended transport header of COMPARE_SWAP and FETCH_ADD.
 *
 * <p>Written by FormatsTest from src/main/formats/roce.txt.
 */
@Generated("FormatsTest")
public class AtomicEth {
  /** Bytes of the structure. */
  public static final int BYTES = 28;

  public static final int ADDRESS_OFFSET = 0x00;

  public static final int RKEY_OFFSET = 0x08;

  public static final int SWAP_ADD_OFFSET = 0x0c;

  public static final int COMPARE_OFFSET = 0x14;

  /** The fields that {@code FieldTable.rows} shows. */
  public static final String ROWS =
"""
0 63 0 AtomicETH address|
8 31 0 R_Key|
12 63 0 swap or add|
20 63 0 compare|
""";

  protected AtomicEth() {}

  /** Virtual address of the cell. */
  public static long virtualAddress(long at) {
    return BigEndian.getLong(at);
  }

  /** The R_Key. */
  public static int rkey(long at) {
    return BigEndian.getInt(at + 0x08);
  }

  /** The value to swap in or to add. */
  public static long swapAdd(long at) {
    return BigEndian.getLong(at + 0x0c);
  }

  /** The value to compare with. */
  public static long compare(long at) {
    return BigEndian.getLong(at + 0x14);
  }

  /** Writes all 28 bytes. */
  public static void write(long at, long virtualAddress, int rkey, long swapAdd, long compare) {
    BigEndian.putLong(at, virtualAddress);
    BigEndian.putInt(at + 0x08, rkey);
    BigEndian.putLong(at + 0x0c, swapAdd);
    BigEndian.putLong(at + 0x14, compare);
  }

  /** Shows the fields in one line. */
  public static String line(long at) {
    return "va=0x%x rkey=0x%08x swap_add=0x%x compare=0x%x"
        .formatted(virtualAddress(at), rkey(at), swapAdd(at), compare(at));
  }
}
