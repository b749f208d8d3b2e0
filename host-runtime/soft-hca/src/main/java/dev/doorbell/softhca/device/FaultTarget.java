package dev.doorbell.softhca.device;

/** A queue pair as a fault plan sees it. */
public interface FaultTarget {
  /** Its place among the queue pairs of its HCA, in the order of their creation. */
  int ordinal();

  /** True between {@link #failSoon} and the error state: packets are dropped meanwhile. */
  boolean isFailing();

  /** Takes the queue pair to the error state in the next step. */
  void failSoon();
}
