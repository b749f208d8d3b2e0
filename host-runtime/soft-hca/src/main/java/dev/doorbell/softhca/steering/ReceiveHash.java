package dev.doorbell.softhca.steering;

import dev.doorbell.core.memory.BigEndian;
import dev.doorbell.core.memory.RawMemory;

/**
 * Toeplitz's hash of a frame's addresses and ports, which deals frames of different flows out to
 * several queues and keeps those of one flow together ("Introduction to Receive Side Scaling",
 * Microsoft). Fields that a frame does not have count as 0.
 */
public final class ReceiveHash {
  /** Bytes of a key. */
  public static final int KEY_BYTES = 40;

  // enum ibv_rx_hash_fields
  private static final int SOURCE_IPV4 = 1;
  private static final int DESTINATION_IPV4 = 1 << 1;
  private static final int SOURCE_IPV6 = 1 << 2;
  private static final int DESTINATION_IPV6 = 1 << 3;
  private static final int SOURCE_TCP = 1 << 4;
  private static final int DESTINATION_TCP = 1 << 5;
  private static final int SOURCE_UDP = 1 << 6;
  private static final int DESTINATION_UDP = 1 << 7;
  private static final int IPV4 = SOURCE_IPV4 | DESTINATION_IPV4;
  private static final int IPV6 = SOURCE_IPV6 | DESTINATION_IPV6;
  private static final int TCP = SOURCE_TCP | DESTINATION_TCP;
  private static final int UDP = SOURCE_UDP | DESTINATION_UDP;

  private final byte[] key;
  private final long fields;

  /**
   * @param key {@link #KEY_BYTES} bytes
   * @param fields {@code enum ibv_rx_hash_fields}, for which {@link #isLegal} holds
   */
  public ReceiveHash(byte[] key, long fields) {
    if (key.length != KEY_BYTES || !isLegal(fields)) {
      throw new IllegalArgumentException(
          "a key of %d bytes, fields 0x%x".formatted(key.length, fields));
    }
    this.key = key.clone();
    this.fields = fields;
  }

  /** True for fields of one version of IP, and of one protocol above it. */
  public static boolean isLegal(long fields) {
    return (fields & ~(IPV4 | IPV6 | TCP | UDP)) == 0
        && ((fields & IPV4) == 0 || (fields & IPV6) == 0)
        && ((fields & TCP) == 0 || (fields & UDP) == 0);
  }

  private boolean has(int which) {
    return (fields & which) != 0;
  }

  /** The hash of {@link FrameFields} at a native address. */
  int of(long frame) {
    State state = new State();
    int version = BigEndian.getShort(frame + FrameFields.KIND) >>> FrameFields.VERSION_SHIFT & 0xf;
    addresses(frame, version == 4, IPV4, SOURCE_IPV4, FrameFields.IPV4_OFFSET, state);
    addresses(frame, version == 6, IPV6, SOURCE_IPV6, 0, state);
    ports(frame + FrameFields.TCP_PORTS, TCP, SOURCE_TCP, state);
    ports(frame + FrameFields.UDP_PORTS, UDP, SOURCE_UDP, state);
    return state.hash;
  }

  private void addresses(
      long frame, boolean present, int both, int source, int offset, State state) {
    int bytes = 16 - offset;
    if (has(both & source)) {
      add(frame + FrameFields.SOURCE + offset, present, bytes, state);
    }
    if (has(both & ~source)) {
      add(frame + FrameFields.DESTINATION + offset, present, bytes, state);
    }
  }

  private void ports(long ports, int both, int source, State state) {
    if (has(both & source)) {
      add(ports, true, Short.BYTES, state);
    }
    if (has(both & ~source)) {
      add(ports + Short.BYTES, true, Short.BYTES, state);
    }
  }

  /** For each bit that is 1, 32 bits of the key, beginning at the number of the bit. */
  private void add(long address, boolean present, int bytes, State state) {
    for (int i = 0; i < bytes; i++) {
      int value = present ? RawMemory.getByte(address + i) : 0;
      for (int bit = Byte.SIZE - 1; bit >= 0; bit--) {
        if ((value >>> bit & 1) != 0) {
          state.hash ^= window(state.bits);
        }
        state.bits++;
      }
    }
  }

  private int window(int bit) {
    long bytes = 0;
    for (int i = 0; i < 5; i++) {
      bytes = bytes << Byte.SIZE | (key[(bit / Byte.SIZE) + i] & 0xff);
    }
    return (int) (bytes >>> (Byte.SIZE - (bit % Byte.SIZE)));
  }

  private static final class State {
    int hash;
    int bits;
  }
}
