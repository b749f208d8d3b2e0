package dev.doorbell.experiments.workbench.explore;

import dev.doorbell.core.agent.ForwardProgress;
import dev.doorbell.core.fabric.explore.Coverage;
import dev.doorbell.core.fabric.explore.model.Chooser;
import dev.doorbell.experiments.workbench.explore.Scenario.ScenarioException;
import java.util.List;
import java.util.Optional;
import java.util.ServiceLoader;
import org.jspecify.annotations.Nullable;

/** Runs a scenario against the adversary. Implemented where the back ends are wired together. */
public interface Laboratory {
  /** Finds the laboratory of this build. */
  static Laboratory find() {
    return ServiceLoader.load(Laboratory.class)
        .findFirst()
        .orElseThrow(() -> new IllegalStateException("no Laboratory is on the class path"));
  }

  /** Returns the names of the project's kernels. */
  List<String> kernels();

  Optional<Scenario.Program> kernel(String name);

  Scenario.Program kernel(BugCase bug, boolean fixed);

  /** Returns why the scenario's adapter cannot run its kernel; empty if it can. */
  Optional<Refusal> refusal(Scenario scenario);

  /**
   * An adapter that lacks what a kernel needs.
   *
   * @param what is missing
   * @param fix what the user can do
   */
  record Refusal(String what, String fix) {}

  /**
   * Runs a scenario once; the same scenario and seed give the same run.
   *
   * @param extent the limits of the run
   * @throws ScenarioException when the scenario cannot run at all
   */
  default Outcome run(Scenario scenario, long seed, Extent extent) throws ScenarioException {
    return run(scenario, Schedule.of(scenario, seed, extent.turns()), extent);
  }

  /**
   * Runs a scenario with the choices of a schedule, as far as {@code extent} allows.
   *
   * @throws ScenarioException when the scenario cannot run at all
   */
  Outcome run(Scenario scenario, Schedule schedule, Extent extent) throws ScenarioException;

  /**
   * Runs a scenario with the choices of {@code chooser}. The outcome of a systematic search lists
   * the steps of the run in place of its last turns.
   *
   * @throws ScenarioException when the scenario cannot run at all
   */
  Outcome run(Scenario scenario, Chooser chooser, Extent extent) throws ScenarioException;

  /**
   * The limits of a run.
   *
   * @param nanos of wall time at most
   * @param turns scheduling decisions at most
   * @param lastTurns how many of the last turns the outcome describes
   * @param progress which threads of a GPU go on while others wait
   */
  record Extent(long nanos, long turns, int lastTurns, ForwardProgress progress) {
    /** An extent in which every thread goes on. */
    public Extent(long nanos, long turns, int lastTurns) {
      this(nanos, turns, lastTurns, ForwardProgress.FAIR);
    }

    /** The same where other threads go on. */
    public Extent with(ForwardProgress other) {
      return new Extent(nanos, turns, lastTurns, other);
    }

    /** Returns an extent that only wall time limits. */
    public static Extent of(long nanos) {
      return new Extent(nanos, Long.MAX_VALUE, 0);
    }
  }

  /**
   * The outcome of one run.
   *
   * @param races in the order of occurrence
   * @param failure a kernel that failed, hung or moved wrong bytes, or null
   * @param finished false if its time ran out, or if it was stopped at the first race
   * @param turns scheduling decisions
   * @param instructions executed by all threads
   * @param nanos wall time
   * @param lastTurns a line for each of the last turns
   * @param coverage what of the kernel was executed, and in which orders
   */
  record Outcome(
      List<Race> races,
      @Nullable Failure failure,
      boolean finished,
      long turns,
      long instructions,
      long nanos,
      List<String> lastTurns,
      Coverage coverage) {
    /** Returns true if there is a race or a failure. */
    public boolean isFinding() {
      return !races.isEmpty() || failure != null;
    }
  }
}
