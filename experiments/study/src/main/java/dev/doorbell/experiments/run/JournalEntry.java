package dev.doorbell.experiments.run;

import static java.util.Objects.requireNonNull;

import dev.doorbell.core.Basis;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.plan.FaultTally;
import dev.doorbell.experiments.plan.Prediction;
import dev.doorbell.experiments.plan.Quantity;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import org.jspecify.annotations.Nullable;

/**
 * One line of the journal: how a point ended.
 *
 * @param index place in the whole plan
 * @param point id of the point
 * @param basis null unless the point is {@code OK}
 * @param samples name of its file under {@code samples/}; null unless the point is {@code OK}
 * @param sha256 of that file
 * @param counters scalars by name
 * @param prediction what the closed forms say; empty where the point's numbers are not modelled
 * @param verifiedBytes bytes compared at the target
 * @param problem what went wrong; null when the point is {@code OK}
 * @param faults what its fault plan did, in the order of the plan
 * @param wallNanos wall time that the point took; a fact about this machine, never shown as a
 *     result
 * @param attempt which one it was, from 1; journals of older versions say 0
 */
public record JournalEntry(
    int index,
    String point,
    Status status,
    @Nullable Basis basis,
    @Nullable String samples,
    @Nullable String sha256,
    SequencedMap<String, Quantity> counters,
    List<Prediction.Term> prediction,
    long verifiedBytes,
    List<String> notes,
    @Nullable Problem problem,
    List<FaultTally> faults,
    long wallNanos,
    int attempt) {

  /** Outcome of a point. */
  public enum Status {
    OK,
    FAILED,
    MISMATCH,
    TIMEOUT,
    WAIVED
  }

  public JournalEntry {
    requireNonNull(point, "point");
    requireNonNull(status, "status");
    counters = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(counters));
    // Closed forms are of virtual time: beside times of a wall they would look like a forecast of
    // it.
    prediction = basis == Basis.MODELLED ? List.copyOf(prediction) : List.of();
    notes = List.copyOf(notes);
    // Journals of older versions have none.
    faults = faults == null ? List.of() : List.copyOf(faults);
  }

  /** A point without a result. */
  static JournalEntry without(
      int index,
      String point,
      Status status,
      Problem problem,
      List<FaultTally> faults,
      long wallNanos,
      int attempt) {
    return new JournalEntry(
        index,
        point,
        status,
        null,
        null,
        null,
        new LinkedHashMap<>(),
        List.of(),
        0,
        List.of(),
        problem,
        faults,
        wallNanos,
        attempt);
  }
}
