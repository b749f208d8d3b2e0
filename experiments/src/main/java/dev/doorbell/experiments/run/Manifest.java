package dev.doorbell.experiments.run;

import dev.doorbell.core.Basis;
import dev.doorbell.experiments.plan.Environment;
import dev.doorbell.experiments.plan.ModelConstant;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Everything about a run that is not its samples: what asked for it, what ran it and where, and
 * every constant that a modelled number rests on. The only place with wall-clock facts beside the
 * log.
 *
 * @param state {@code running} until the run has ended; a run found so was cut off
 * @param finished null while it runs
 * @param points of the plan
 * @param recorded points in the journal at the end
 */
public record Manifest(
    String doorbell,
    String run,
    String experiment,
    String configHash,
    List<String> arguments,
    State state,
    Instant started,
    @Nullable Instant finished,
    int workers,
    int points,
    int recorded,
    Environment environment,
    Basis basis,
    Machine machine,
    List<ModelConstant> constants) {

  /** How far a run got. */
  public enum State {
    RUNNING,
    COMPLETE,
    INTERRUPTED
  }

  public Manifest {
    arguments = List.copyOf(arguments);
    constants = List.copyOf(constants);
  }

  /** The manifest of a run that starts now, on this machine. */
  public static Manifest starting(
      String doorbell,
      RunDirectory directory,
      String experiment,
      String configHash,
      List<String> arguments,
      Instant now,
      int workers,
      int points,
      Environment environment,
      List<ModelConstant> constants) {
    return new Manifest(
        doorbell,
        directory.id(),
        experiment,
        configHash,
        arguments,
        State.RUNNING,
        now,
        null,
        workers,
        points,
        0,
        environment,
        environment.basis(),
        Machine.here(),
        constants);
  }

  /** The same run, ended. */
  public Manifest ended(State how, Instant now, int recordedPoints) {
    return new Manifest(
        doorbell,
        run,
        experiment,
        configHash,
        arguments,
        how,
        started,
        now,
        workers,
        points,
        recordedPoints,
        environment,
        basis,
        machine,
        constants);
  }

  /** Puts it in its place in the run directory. */
  public void write(RunDirectory directory) throws RunException {
    directory.write(RunDirectory.MANIFEST, RunJson.pretty(this));
  }
}
