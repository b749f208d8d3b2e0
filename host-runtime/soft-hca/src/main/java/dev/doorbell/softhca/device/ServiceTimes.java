package dev.doorbell.softhca.device;

/** When a server that takes one customer after the other is free again, in virtual time. */
public final class ServiceTimes {
  private static final int PICOS = 1_000;
  private double freePicos;

  /**
   * Serves a customer that comes at {@code now} for {@code nanos}.
   *
   * @return nanoseconds until its service begins, rounded
   */
  public long serve(long now, double nanos) {
    double arrival = (double) now * PICOS;
    double start = Math.max(arrival, freePicos);
    freePicos = start + nanos * PICOS;
    return Math.round((start - arrival) / PICOS);
  }
}
