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
    @Price(key = "clock_ghz", least = 0.1, most = 10, standard = 1) double clock,
    @Price(key = "post_cycles", most = 1e6, standard = 0) double postCycles,
    @Price(key = "completion_cycles", most = 1e6, standard = 0) double completionCycles,
    @Price(standard = 0) double line) {}
