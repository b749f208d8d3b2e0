package dev.doorbell.core.fabric.timed.machine;

/**
 * What a CPU thread that posts and polls costs, split into what depends on its clock and what does
 * not: a piece of work takes C cycles and B nanoseconds, C / f + B at a clock of f GHz. A topology
 * may leave out all of it.
 *
 * @param clock cycles in a nanosecond
 * @param postCycles building and posting one work request, beside {@link CpuPrices#post}
 * @param completionCycles taking one CQE
 * @param line a load of a cache line that a device has just written, in nanoseconds: each command
 *     and each CQE takes one
 */
public record CpuRefinements(
    double clock, double postCycles, double completionCycles, double line) {

  /** No refinement. */
  public static final CpuRefinements NONE = new CpuRefinements(1, 0, 0, 0);
}
