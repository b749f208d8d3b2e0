package dev.doorbell.experiments.run;

import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.plan.PointContext;
import dev.doorbell.experiments.plan.PointFailure;
import dev.doorbell.experiments.plan.PointResult;
import dev.doorbell.experiments.plan.PointRunner;
import java.time.Duration;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.BiConsumer;

/**
 * Runs points on several threads and keeps their results in memory, for what needs numbers and no
 * run directory.
 *
 * @param threads each runs one point at a time
 * @param interruption ends points early
 */
public record PointWorkers(int threads, Interruption interruption) {

  /** Outcome of a point. */
  public sealed interface Ending {
    record Done(PointResult result) implements Ending {}

    record Failed(PointFailure failure) implements Ending {}
  }

  /** Returns workers with as many threads as the machine has processors. */
  public static PointWorkers ofMachine(Interruption interruption) {
    return new PointWorkers(Runtime.getRuntime().availableProcessors(), interruption);
  }

  /**
   * Runs points, begun in this order, and reports each ending at once.
   *
   * @param ended is called by the worker that ran the point, by one at a time
   * @return an ending for each of these points, by identity; that of a point that the user cut
   *     short is a failure
   * @throws InterruptedException when this thread is interrupted
   */
  public IdentityHashMap<Point, Ending> run(
      List<Point> points, PointRunner runner, BiConsumer<Point, Ending> ended)
      throws InterruptedException {
    IdentityHashMap<Point, Ending> endings = new IdentityHashMap<>();
    try (ExecutorService workers = Executors.newFixedThreadPool(threads)) {
      List<Future<Ending>> futures =
          points.stream()
              .map(
                  point ->
                      workers.submit(
                          () -> {
                            Ending ending = end(point, runner);
                            synchronized (ended) {
                              ended.accept(point, ending);
                            }
                            return ending;
                          }))
              .toList();
      for (int i = 0; i < points.size(); i++) {
        endings.put(points.get(i), futures.get(i).get());
      }
    } catch (ExecutionException e) {
      throw new IllegalStateException("a point's thread ended", e.getCause());
    }
    return endings;
  }

  private Ending end(Point point, PointRunner runner) {
    try {
      return new Ending.Done(runner.run(point, new Bounded(point)));
    } catch (PointFailure failure) {
      return new Ending.Failed(failure);
    } catch (RuntimeException | Error fault) {
      Problem problem =
          Problem.of("DB-P900", point.id(), "Doorbell itself failed: " + fault)
              .effect("this point has no result");
      return new Ending.Failed(new PointFailure(PointFailure.Kind.FAILED, problem, fault));
    }
  }

  /** Ends when its point's time is over, or when the user interrupts it. */
  private final class Bounded implements PointContext {
    private final PointTimer timer;

    Bounded(Point point) {
      this.timer = new PointTimer(true, point.timeout());
    }

    @Override
    public boolean cancelled() {
      return interruption.requested() || timer.isOver(Duration.ZERO);
    }

    @Override
    public void log(String line) {
      // There is no log; a point that fails says why itself.
    }
  }
}
