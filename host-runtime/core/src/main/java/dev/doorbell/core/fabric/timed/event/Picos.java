package dev.doorbell.core.fabric.timed.event;

/** Picoseconds: the unit of virtual time inside the timed fabric. */
public final class Picos {
  /** Picoseconds in a nanosecond. */
  public static final long PER_NANO = 1000;

  private Picos() {}

  /** The nearest number of picoseconds. */
  public static long of(double nanos) {
    return Math.round(nanos * PER_NANO);
  }

  /** Picoseconds that one byte takes at a rate of 10^9 bytes a second. */
  public static double perByte(double bytesPerNano) {
    return PER_NANO / bytesPerNano;
  }
}
