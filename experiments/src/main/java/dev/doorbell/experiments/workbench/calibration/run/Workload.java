package dev.doorbell.experiments.workbench.calibration.run;

/**
 * How much is done for one sample: much on hardware, whose clocks are coarse; little in virtual
 * time, whose clock is exact.
 *
 * @param rounds of {@link PriceKernels#UNROLLED} operations for a sample of what takes long
 * @param quickRounds the same for what takes a nanosecond or so
 * @param chainBytes of the buffer that weak loads walk through, larger than the first cache
 * @param clockNanos during which the two clocks are compared
 * @param warmSamples are taken first and thrown away
 * @param accessesPerThread of a bandwidth kernel, at most
 * @param mostBytes that it moves in all
 * @param accesses of all its threads together that are made, but for 8 a thread; the rest takes as
 *     long as the second half of these
 * @param repeats of a bandwidth kernel, beside one to warm up; 1: there is nothing to warm up, as
 *     virtual time says the same each time
 * @param copyBytes of a large copy by the copy engine; 0: there is none worth timing
 */
record Workload(
    int rounds,
    int quickRounds,
    int chainBytes,
    long clockNanos,
    int warmSamples,
    int accessesPerThread,
    long mostBytes,
    long accesses,
    int repeats,
    long copyBytes) {
  static final Workload ON_HARDWARE =
      new Workload(16, 64, 4 << 20, 2_000_000, 16, 1024, 64L << 20, Long.MAX_VALUE, 7, 256L << 20);

  static final Workload IN_VIRTUAL_TIME =
      new Workload(2, 2, 64 << 10, 20_000, 1, 1024, 64L << 20, 1L << 16, 1, 0);
}
