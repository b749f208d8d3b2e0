package dev.doorbell.experiments.plan;

import dev.doorbell.core.problem.EnvironmentException;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.config.kernel.KernelExtension;
import dev.doorbell.experiments.config.schema.Vocabulary;
import dev.doorbell.experiments.kernels.UserKernel;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Everything that the command line needs from the world of GPUs and HCAs. Implemented where the
 * back ends are wired together; tests implement it in thirty lines.
 */
public interface ExperimentRuntime {
  /** Decides what a run uses. Never degrades silently: each choice says why. */
  Environment choose(Environment.Request request) throws EnvironmentException;

  /** Chooses for a run of these points: where none of them is emulated, the basis says so. */
  default Environment choose(Environment.Request request, List<Point> points)
      throws EnvironmentException {
    return choose(request);
  }

  /**
   * Says what is impossible about a point without running it, such as a path that its placement
   * cannot take. Called for every point of {@code validate} and {@code run} before the first runs.
   */
  List<Problem> check(Point point);

  /**
   * Says what about a point is impossible in that environment and possible in others, such as a
   * path that the chosen HCA has no register for. Called by {@code run} before the first point.
   */
  default List<Problem> check(Environment environment, Point point) {
    return List.of();
  }

  /** This runtime with kernels of the user's own beside those that it brings. */
  ExperimentRuntime with(List<UserKernel> kernels);

  /** A runner for points in the chosen environment. */
  PointRunner runner(Environment environment);

  /** The closed forms for a point; {@link Prediction#none()} where the model has no word. */
  Prediction predict(Point point);

  /** Every constant that the numbers of these points rest on, each once, in a stable order. */
  List<ModelConstant> constants(List<Point> points);

  /**
   * Returns the effect of each constant of a point's topology on a metric, changed alone: by the
   * interval with which it was measured, else by a share of it.
   *
   * @param share such as 0.2
   * @return in the order of the topology; empty where the closed forms have no word for the metric
   */
  default List<Influence> sensitivity(Point point, String metric, double share) {
    return List.of();
  }

  /**
   * Runs one message of a point in virtual time and records its events.
   *
   * @param capture where its packets go, as pcapng; null for nowhere
   * @throws PointFailure when it cannot, or when what arrived is not what was sent
   */
  default Timeline timeline(Point point, @Nullable Path capture) throws PointFailure {
    throw new PointFailure(
        PointFailure.Kind.FAILED,
        Problem.of("DB-P030", point.id(), "this build traces no messages").effect("no timeline"));
  }

  /** A guess at the wall time of a point on one core, in nanoseconds, for estimates only. */
  long estimateNanos(Point point);

  /** Kernels and topologies. */
  Catalogue catalogue();

  /** The names in the catalogue, for which nothing behind them need be read. */
  default Vocabulary names() {
    Catalogue catalogue = catalogue();
    return new Vocabulary(
        catalogue.kernels().stream().map(Catalogue.Entry::name).toList(),
        catalogue.topologies().stream().map(Catalogue.Entry::name).toList());
  }

  /** Returns whether a setting means something to a point. */
  default boolean uses(Point point, String setting) {
    return true;
  }

  /** Returns the extensions of the user's kernels, by kernel. */
  default Map<String, KernelExtension> extensions() {
    return Map.of();
  }

  /**
   * Posts one put and prints its WQE, record, doorbell, fetch, payload and CQE with their times.
   */
  void demo(PrintStream out) throws PointFailure, EnvironmentException;
}
