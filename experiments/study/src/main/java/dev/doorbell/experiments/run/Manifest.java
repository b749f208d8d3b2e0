package dev.doorbell.experiments.run;

import static java.util.Objects.requireNonNull;

import dev.doorbell.core.Basis;
import dev.doorbell.experiments.config.value.RecordCopy;
import dev.doorbell.experiments.plan.Environment;
import dev.doorbell.experiments.plan.ModelConstant;
import java.io.IOException;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Everything about a run that is not its samples: what asked for it, what ran it and where, and
 * every constant that a modelled number rests on. The only place with wall-clock facts beside the
 * log.
 *
 * @param tags names by which the run can be found again
 * @param schedule which points, in which order; null in manifests of older versions
 * @param state {@code running} until the run has ended; a run found so was cut off
 * @param finished null while it runs
 * @param points of the plan
 * @param recorded points in the journal at the end
 * @param doctor findings of {@code doorbell doctor} when a run on real devices began; none for an
 *     emulated run
 * @param constants of the path model; none where numbers are not modelled
 */
public record Manifest(
    String doorbell,
    String run,
    String experiment,
    String configHash,
    List<String> arguments,
    List<String> tags,
    @Nullable PointSchedule schedule,
    State state,
    Instant started,
    @Nullable Instant finished,
    int workers,
    int points,
    int recorded,
    Environment environment,
    Basis basis,
    Machine machine,
    List<Diagnosed> doctor,
    List<ModelConstant> constants) {

  /** Progress of a run. */
  public enum State {
    RUNNING,
    COMPLETE,
    INTERRUPTED
  }

  /**
   * A finding of the doctor.
   *
   * @param code whose page {@code doorbell doctor --explain} prints
   * @param verdict such as {@code warn}
   * @param what where and what, in words
   */
  public record Diagnosed(String code, String verdict, String what) {}

  public Manifest {
    requireNonNull(configHash, "configHash");
    requireNonNull(state, "state");
    requireNonNull(environment, "environment");
    requireNonNull(basis, "basis");
    requireNonNull(machine, "machine");
    arguments = List.copyOf(arguments);
    // Manifests of versions without the doctor have none.
    doctor = doctor == null ? List.of() : List.copyOf(doctor);
    tags = tags == null ? List.of() : List.copyOf(tags);
    // A number that no model made rests on none of a model's constants.
    constants = basis == Basis.MODELLED ? List.copyOf(constants) : List.of();
  }

  /** Reads the bytes of a manifest. */
  public static Manifest parse(byte[] json) throws IOException {
    return RunJson.read(json, 0, json.length, Manifest.class);
  }

  /** Returns true if another run has an equal machine and environment. */
  public boolean sameMachine(Manifest other) {
    return machine.withoutCommit().equals(other.machine.withoutCommit())
        && environment.equals(other.environment);
  }

  /** Returns the manifest of this run after its end. */
  public Manifest ended(State how, Instant now, int recordedPoints) {
    return RecordCopy.with(this, Map.of("state", how, "finished", now, "recorded", recordedPoints));
  }

  /** Puts it in its place in the run directory. */
  public void write(RunDirectory directory) throws RunException {
    directory.write(RunDirectory.MANIFEST, RunJson.pretty(this));
  }
}
