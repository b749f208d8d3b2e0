package dev.doorbell.proxy;

/**
 * What the CPU's own work costs in virtual time. Memory accesses are not in it: the fabric charges
 * them.
 *
 * @param pollNanos from the poll that finds commands to the first of them in registers: once for
 *     every batch
 * @param postNanos of building one WQE
 */
public record ProxyPrices(long pollNanos, long postNanos) {
  /** Costs nothing: for fabrics whose clock is the wall's. */
  public static final ProxyPrices FREE = new ProxyPrices(0, 0);

  public ProxyPrices {
    if (pollNanos < 0 || postNanos < 0) {
      throw new IllegalArgumentException(
          "prices are not negative: poll %d ns, post %d ns".formatted(pollNanos, postNanos));
    }
  }
}
