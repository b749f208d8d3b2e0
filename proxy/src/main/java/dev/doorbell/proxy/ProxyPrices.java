package dev.doorbell.proxy;

/**
 * Prices of the CPU's own work in virtual time. Memory accesses are not in it: the fabric charges
 * them.
 *
 * @param pollNanos from the poll that finds commands to the first of them in registers: once for
 *     every batch
 * @param postNanos of building one WQE
 * @param lineNanos of a cache line that a device has just written: for every command and every CQE
 * @param completionNanos of dealing with one CQE
 * @param ringNanos of a doorbell or a BlueFlame write, behind it: until the store has left the core
 */
public record ProxyPrices(
    long pollNanos, long postNanos, long lineNanos, long completionNanos, long ringNanos) {
  /** Costs nothing: for fabrics whose clock is the wall's. */
  public static final ProxyPrices FREE = new ProxyPrices(0, 0);

  public ProxyPrices {
    if (pollNanos < 0 || postNanos < 0 || lineNanos < 0 || completionNanos < 0 || ringNanos < 0) {
      throw new IllegalArgumentException(
          "prices are not negative: poll %d ns, post %d ns, line %d ns, completion %d ns, ring %d ns"
              .formatted(pollNanos, postNanos, lineNanos, completionNanos, ringNanos));
    }
  }

  /**
   * Prices where a line costs what the fabric charges for a load, and a CQE and a doorbell nothing.
   */
  public ProxyPrices(long pollNanos, long postNanos) {
    this(pollNanos, postNanos, 0, 0, 0);
  }
}
