package dev.doorbell.experiments.scenario.transfer;

import dev.doorbell.core.fabric.ArrivalListener;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.concurrent.ConcurrentNavigableMap;
import java.util.concurrent.ConcurrentSkipListMap;

/** Bytes that have arrived in inboxes, by time. */
final class Arrivals {
  private final ConcurrentNavigableMap<Long, Long> bytesAt = new ConcurrentSkipListMap<>();

  /** Adds what arrives from the address {@code start} on, whichever host thread it arrives at. */
  ArrivalListener in(long start, long size) {
    return (address, bytes, picos) -> {
      if (address >= start && address < start + size) {
        bytesAt.merge(picos, bytes, Long::sum);
      }
    };
  }

  /**
   * Share of all bytes that arrived in a nanosecond of the steady state, that of the second half:
   * the first half fills the pipeline.
   *
   * @return empty if all bytes arrived at once, or none
   */
  OptionalDouble steady() {
    long total = bytesAt.values().stream().mapToLong(Long::longValue).sum();
    long before = 0;
    for (Map.Entry<Long, Long> one : bytesAt.entrySet()) {
      before += one.getValue();
      if (2 * before >= total && before < total) {
        // No rate is above that of a link because its picoseconds were rounded.
        long nanos = Math.ceilDiv(bytesAt.lastKey(), 1000) - one.getKey() / 1000;
        return OptionalDouble.of((double) (total - before) / total / nanos);
      }
    }
    return OptionalDouble.empty();
  }
}
