package dev.doorbell.core.gpi;

import dev.doorbell.core.gpi.generated.DescriptorFields;
import dev.doorbell.core.memory.RawMemory;

/** A command of a GPU to a NIC. */
public final class Descriptor extends DescriptorFields {

  private Descriptor() {}

  /** Returns true if all segments have the owner bit of a lap. */
  public static boolean isOwned(long at, long lap) {
    for (int i = 0; i < SEGMENTS; i++) {
      if ((RawMemory.getLong(at + 8L * i) & 1) != (lap & 1)) {
        return false;
      }
    }
    return true;
  }

  /** Returns the data that the command brings along. */
  public static long inlineData(long at) {
    return (long) inlineHigh(at) << Integer.SIZE | (inlineLow(at) & 0xffff_ffffL);
  }
}
