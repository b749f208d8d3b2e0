package dev.doorbell.core.fabric.timed.machine;

import java.util.List;

/**
 * The path between two components of a node; the way back is the same path reversed.
 *
 * @param from a component: {@code gpu0}, {@code cpu0}, {@code nic0}
 * @param to another one
 * @param hops the links from {@code from} to {@code to}
 * @param peerReads whether reads are routed at all; some root complexes only route peer writes
 * @param readCap most bytes a nanosecond of read data; 0 means what the links carry
 * @param writeCap most bytes a nanosecond of posted data; 0 means what the links carry
 * @param strictWriteCap as {@code writeCap}, for writes without the relaxed-ordering attribute
 * @param relaxedOrdering whether writes with that attribute may pass earlier ones here
 * @param jitterNanos upper bound of a random addition to the latency of each transfer; 0 for none
 */
public record Path(
    String from,
    String to,
    List<Hop> hops,
    boolean peerReads,
    double readCap,
    double writeCap,
    double strictWriteCap,
    boolean relaxedOrdering,
    double jitterNanos) {

  public Path {
    hops = List.copyOf(hops);
    if (hops.isEmpty()) {
      throw new IllegalArgumentException("no hop between " + from + " and " + to);
    }
  }

  /** A path without caps and jitter on which reads work. */
  public static Path of(String from, String to, List<Hop> hops) {
    return new Path(from, to, hops, true, 0, 0, 0, true, 0);
  }

  /** One-way latency of a posted TLP without its serialisation, in nanoseconds. */
  public double nanos() {
    double sum = 0;
    for (Hop hop : hops) {
      sum += hop.nanos();
    }
    return sum;
  }

  /**
   * One link of a path.
   *
   * @param link the link's name
   * @param nanos latency of crossing it, and of the bridge or root complex behind it
   */
  public record Hop(String link, double nanos) {}
}
