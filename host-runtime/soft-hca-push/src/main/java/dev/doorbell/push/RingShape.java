package dev.doorbell.push;

/**
 * The size of a ring in on-chip memory.
 *
 * @param entries messages in the ring, a power of two
 * @param slots of them with payload in the ring: a power of two up to {@code entries}, or 0; the
 *     others go with a header only, and their payload is pulled
 * @param slotBytes of one slot, a multiple of 16; no message is longer, pulled or not
 * @param first index of the first message: 0 but for tests of what wraps
 */
public record RingShape(int entries, int slots, int slotBytes, long first) {
  private static final int UNIT = 16;

  public RingShape {
    if (Integer.bitCount(entries) != 1
        || slots < 0
        || slots > entries
        || Integer.bitCount(slots) > 1) {
      throw new IllegalArgumentException(
          "%d entries, %d slots: powers of two, and no more slots than entries"
              .formatted(entries, slots));
    }
    if (slotBytes <= 0 || slotBytes % UNIT != 0 || first < 0) {
      throw new IllegalArgumentException(
          "slots of %d bytes from message %d".formatted(slotBytes, first));
    }
  }

  /** A ring all of whose messages have their payload in it, from message 0 on. */
  public static RingShape of(int slots, int slotBytes) {
    return new RingShape(slots, slots, slotBytes, 0);
  }

  /** Bytes of payload that the ring holds. */
  public long stagingBytes() {
    return (long) slots * slotBytes;
  }
}
