package dev.doorbell.softhca.steering;

import dev.doorbell.core.memory.RawMemory;
import java.util.Arrays;

/** What frames a rule is for: those whose {@link FrameFields} are {@code value} under a mask. */
public final class FlowMatch {
  private final byte[] value;
  private final byte[] mask;

  /**
   * @param value {@link FrameFields#BYTES} bytes
   * @param mask as many; a bit that is 1 has to agree
   */
  public FlowMatch(byte[] value, byte[] mask) {
    if (value.length != FrameFields.BYTES || mask.length != FrameFields.BYTES) {
      throw new IllegalArgumentException(
          "%d and %d bytes; a match has %d"
              .formatted(value.length, mask.length, FrameFields.BYTES));
    }
    this.value = value.clone();
    this.mask = mask.clone();
    for (int i = 0; i < mask.length; i++) {
      this.value[i] &= mask[i];
    }
  }

  /** True when the fields at a native address match. */
  boolean accepts(long fields) {
    for (int i = 0; i < mask.length; i++) {
      if ((RawMemory.getByte(fields + i) & mask[i]) != value[i]) {
        return false;
      }
    }
    return true;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof FlowMatch that
        && Arrays.equals(value, that.value)
        && Arrays.equals(mask, that.mask);
  }

  @Override
  public int hashCode() {
    return 31 * Arrays.hashCode(value) + Arrays.hashCode(mask);
  }
}
