package dev.doorbell.interop.serve;

import dev.doorbell.interop.control.ControlPlace;
import java.util.List;

/**
 * Options of a measurement against a served HCA.
 *
 * @param at the server's control address
 * @param loads measured one after the other, with the same idle queue pairs
 * @param rounds measured of each load, after one warm-up round
 * @param timeoutNanos for each round
 * @param idle additional queue pairs that are connected and send nothing
 */
public record BenchOptions(
    ControlPlace at, List<Load> loads, int rounds, long timeoutNanos, int idle) {

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
  public BenchOptions(ControlPlace at, Load load, int rounds, long timeoutNanos) {
    this(at, List.of(load), rounds, timeoutNanos, 0);
  }
}
