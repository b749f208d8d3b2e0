package dev.doorbell.experiments.plan;

import dev.doorbell.core.Basis;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;

/**
 * The result of a point.
 *
 * @param basis what its numbers are called
 * @param samples one entry a sampled metric, raw and in order
 * @param counters scalars by name, such as {@code tlp.bytes}, counted per message or per point as
 *     their description says
 * @param verifiedBytes bytes compared at the target, all of them right
 * @param notes notes for readers of the numbers; no wall-clock facts, since they would make two
 *     runs differ
 */
public record PointResult(
    Basis basis,
    List<Samples> samples,
    SequencedMap<String, Quantity> counters,
    long verifiedBytes,
    List<String> notes) {

  public PointResult {
    samples = List.copyOf(samples);
    counters = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(counters));
    notes = List.copyOf(notes);
  }
}
