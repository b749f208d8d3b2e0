package dev.doorbell.experiments.model;

import dev.doorbell.core.fabric.timed.machine.Link.Credits;
import dev.doorbell.core.fabric.timed.machine.Tlp;

/** Bounds that hold whatever the implementation: bytes a nanosecond, which is GB/s. */
public final class Bounds {
  private Bounds() {}

  /** Little's law: {@code requests} of {@code bytes} outstanding over a round trip. */
  public static double little(int outstanding, long bytes, double roundTripNanos) {
    return outstanding * bytes / roundTripNanos;
  }

  /** Posted writes of {@code payload} bytes each, by the header and data credits of a receiver. */
  public static double postedCredits(Credits credits, int payload) {
    double byHeaders = (double) credits.headers() * payload / credits.returnNanos();
    int writes = credits.data() / Tlp.dataCredits(payload);
    return Math.min(byHeaders, (double) writes * payload / credits.returnNanos());
  }

  /**
   * The share of the wire that payload gets.
   *
   * @param overhead bytes that each TLP adds
   */
  public static double efficiency(long bytes, int tlps, int overhead) {
    return bytes / (bytes + (double) tlps * overhead);
  }

  /**
   * Sustained rate through a staging buffer of which every byte stays until it is acknowledged.
   *
   * @param bufferBytes slots times bytes of a slot
   * @param roundTripNanos of the network
   * @param creditNanos until the producer sees that a slot is free
   */
  public static double staging(long bufferBytes, double roundTripNanos, double creditNanos) {
    return bufferBytes / (roundTripNanos + creditNanos);
  }

  /**
   * The probability that a ring is full when a message comes (M/M/1/W): that of a stall with
   * credits, of a drop without.
   *
   * @param load offered load, as a share of what is served
   * @param slots of the ring
   */
  public static double ringFull(double load, int slots) {
    if (load == 1) {
      return 1.0 / (slots + 1);
    }
    return (1 - load) * Math.pow(load, slots) / (1 - Math.pow(load, slots + 1));
  }

  /**
   * The size from which on one way is as fast as another, T = alpha + N / B; negative or infinite
   * where they never meet.
   *
   * @param pullStart alpha of the one in nanoseconds
   * @param pullRate B of the one in bytes a nanosecond
   * @param pushStart alpha of the other
   * @param pushRate B of the other
   */
  public static double crossover(
      double pullStart, double pullRate, double pushStart, double pushRate) {
    return (pullStart - pushStart) / (1 / pushRate - 1 / pullRate);
  }

  /** Nanoseconds a post when its fences are shared by a batch. */
  public static double post(double alone, double fences, int batch) {
    return alone + fences / batch;
  }

  /**
   * Bytes of payload that a WQE of so many 64-byte blocks holds beside control segment, remote
   * address and inline header.
   */
  public static int inlineBytes(int blocks) {
    return 64 * blocks - PathModel.INLINE_OVERHEAD;
  }
}
