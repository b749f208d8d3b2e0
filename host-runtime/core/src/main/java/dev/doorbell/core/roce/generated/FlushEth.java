package dev.doorbell.core.roce.generated;

import dev.doorbell.core.memory.BigEndian;
import javax.annotation.processing.Generated;

/**
 * The extended transport header of FLUSH (InfiniBand 1.5, annex A19), before its {@link Reth}.
 *
 * <p>Written by FormatsTest from src/main/formats/roce.txt.
 */
@Generated("FormatsTest")
public class FlushEth {
  /** Bytes of the structure. */
  public static final int BYTES = 4;

  /** The fields that {@code FieldTable.rows} shows. */
  public static final String ROWS =
"""
0 31 6 reserved|
0 5 4 selectivity level|0 the range, 1 the region
0 3 0 placement type|1 global visibility, 2 persistence
""";

  protected FlushEth() {}

  /** Extent that is flushed: 0 the range of the RETH, 1 the whole region. */
  public static int selectivity(long at) {
    return BigEndian.getInt(at) >>> 4 & 0x3;
  }

  /** Promise that is asked for: 1 global visibility, 2 persistence. */
  public static int placement(long at) {
    return BigEndian.getInt(at) & 0xf;
  }

  /** Shows the fields in one line. */
  public static String line(long at) {
    return "flush=%d level=%d".formatted(placement(at), selectivity(at));
  }
}
