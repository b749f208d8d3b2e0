package dev.doorbell.interop.serve;

import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.ToLongFunction;

/**
 * The result of a soak.
 *
 * @param samples in the order of time
 */
public record SoakReport(List<Sample> samples) {

  /**
   * Memory may grow by a twentieth from the second quarter of a soak to the last one: medians of
   * quarters of ten-minute soaks differ by 1 % at most.
   */
  private static final double SLACK = 0.05;

  /** Less than this is not growth: a heap of 10 MB varies by 0.1 MB with what the JVM compiles. */
  private static final long FLOOR_BYTES = 1 << 20;

  private static final double MEBIBYTE = 1 << 20;

  /**
   * Memory at one time.
   *
   * @param seconds since the soak began
   * @param clients that have come by then
   * @param bytes of packets that the server has carried by then
   */
  public record Sample(double seconds, long clients, long bytes, MemoryUse memory) {}

  /** Keeps a copy of the list. */
  public SoakReport {
    samples = List.copyOf(samples);
  }

  /**
   * Says which memory grew from the second quarter of the samples to the last one. The first
   * quarter is left out, in which the JVM loads and compiles. Resident pages of the heap are not
   * judged: they grow until the JVM has used the whole of its young generation once.
   */
  public Optional<String> growth() {
    return grew("heap", MemoryUse::heap)
        .or(() -> grew("memory outside the heap", MemoryUse::outside));
  }

  private Optional<String> grew(String what, ToLongFunction<MemoryUse> memory) {
    int quarter = samples.size() / 4;
    long before = median(samples.subList(quarter, 2 * quarter), memory);
    long after = median(samples.subList(samples.size() - quarter, samples.size()), memory);
    return after - before <= Math.max(FLOOR_BYTES, SLACK * before)
        ? Optional.empty()
        : Optional.of(
            "the %s grew from %.1f to %.1f MiB"
                .formatted(what, before / MEBIBYTE, after / MEBIBYTE));
  }

  private static long median(List<Sample> of, ToLongFunction<MemoryUse> memory) {
    return of.stream()
        .map(sample -> memory.applyAsLong(sample.memory))
        .sorted(Comparator.naturalOrder())
        .skip(of.size() / 2)
        .findFirst()
        .orElseThrow();
  }
}
