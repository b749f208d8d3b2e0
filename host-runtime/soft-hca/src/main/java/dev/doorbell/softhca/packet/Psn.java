package dev.doorbell.softhca.packet;

/** Arithmetic of packet sequence numbers: 24 bits, compared by the sign of their difference. */
public final class Psn {
  public static final int MASK = 0xff_ffff;

  private Psn() {}

  public static int add(int psn, int packets) {
    return (psn + packets) & MASK;
  }

  /** Distance of {@code a} ahead of {@code b}: negative when it is behind. */
  public static int difference(int a, int b) {
    return (a - b) << 8 >> 8;
  }

  /** Packets of a message of {@code bytes} bytes: at least one. */
  public static int packets(long bytes, int mtu) {
    return bytes == 0 ? 1 : (int) ((bytes + mtu - 1) / mtu);
  }
}
