package dev.doorbell.experiments.remote;

/**
 * What is measured against a served HCA.
 *
 * @param at where it is asked
 * @param bytes of a WRITE
 * @param messages of a round
 * @param rounds that count; one more comes first and does not
 * @param depth WRITEs outstanding
 * @param timeoutNanos for each round
 * @param idle queue pairs that are connected beside the one that is measured, and do nothing
 */
public record BenchOptions(
    Endpoint at, int bytes, int messages, int rounds, int depth, long timeoutNanos, int idle) {

  /** Without idle queue pairs. */
  public BenchOptions(
      Endpoint at, int bytes, int messages, int rounds, int depth, long timeoutNanos) {
    this(at, bytes, messages, rounds, depth, timeoutNanos, 0);
  }
}
