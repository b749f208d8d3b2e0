package dev.doorbell.experiments.session.calibration;

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
 * @param accesses of all its threads together, at most, but for 16 a thread
 * @param repeats of a bandwidth kernel; virtual time says the same each time
 * @param mostBytes that it moves in all
 * @param copyBytes of a large copy by the copy engine; 0: there is none worth timing
 */
record Workload(
    int rounds,
    int quickRounds,
    int chainBytes,
    long clockNanos,
    int warmSamples,
    int accessesPerThread,
    long accesses,
    int repeats,
    long mostBytes,
    long copyBytes) {
  static final Workload ON_HARDWARE =
      new Workload(16, 64, 4 << 20, 2_000_000, 16, 1024, 1L << 40, 7, 64L << 20, 256L << 20);

  static final Workload IN_VIRTUAL_TIME =
      new Workload(2, 2, 64 << 10, 20_000, 1, 1024, 1L << 17, 1, 8L << 20, 0);
}
