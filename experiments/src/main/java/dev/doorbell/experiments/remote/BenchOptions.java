package dev.doorbell.experiments.remote;

import java.util.List;

/**
 * What is measured against a served HCA.
 *
 * @param at where it is asked
 * @param loads one after the other, over the same idle queue pairs
 * @param rounds of each load that count; one more comes first and does not
 * @param timeoutNanos for each round
 * @param idle queue pairs that are connected beside the one that is measured, and do nothing
 */
public record BenchOptions(Endpoint at, List<Load> loads, int rounds, long timeoutNanos, int idle) {

  /**
   * WRITEs of one size.
   *
   * @param bytes of a WRITE
   * @param messages of a round
   * @param depth WRITEs outstanding
   */
  public record Load(int bytes, int messages, int depth) {}

  /** Keeps a copy of the list. */
  public BenchOptions {
    loads = List.copyOf(loads);
  }

  /** One load, without idle queue pairs. */
  public BenchOptions(Endpoint at, Load load, int rounds, long timeoutNanos) {
    this(at, List.of(load), rounds, timeoutNanos, 0);
  }
}
