package dev.doorbell.experiments.run;

import dev.doorbell.core.Sha256;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.plan.FaultTally;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.plan.PointContext;
import dev.doorbell.experiments.plan.PointFailure;
import dev.doorbell.experiments.plan.PointResult;
import dev.doorbell.experiments.plan.PointRunner;
import dev.doorbell.experiments.plan.Prediction;
import java.math.BigDecimal;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Runs points on worker threads and records each as it ends. One thread, the caller's, touches the
 * run directory.
 *
 * <p>A point that does not end by its timeout is asked to stop, and is left behind if it does not
 * listen; the run goes on.
 */
public final class RunExecution {
  private static final long TICK_MILLIS = 100;

  private final RunDirectory directory;
  private final PointRunner runner;
  private final Function<Point, Prediction> model;
  private final RunListener listener;
  private final Interruption interruption;
  private final Limits limits;

  /**
   * Limits for the execution of points.
   *
   * @param workers threads; each runs one point at a time
   * @param virtual whether points count processor time, as those in virtual time do
   * @param allowed time of a point
   * @param grace how long a point may take to notice that it should stop
   * @param retries times that a point that failed or timed out is tried again. One whose bytes were
   *     wrong is not: that must be seen
   */
  public record Limits(
      int workers,
      boolean virtual,
      Function<Point, Duration> allowed,
      Duration grace,
      int retries) {}

  /**
   * Outcome of the points.
   *
   * @param entries one a recorded point, in plan order
   * @param interrupted whether the user ended the run before all points were recorded
   */
  public record Outcome(List<JournalEntry> entries, boolean interrupted) {
    public Outcome {
      entries = List.copyOf(entries);
    }
  }

  public RunExecution(
      RunDirectory directory,
      PointRunner runner,
      Function<Point, Prediction> model,
      RunListener listener,
      Interruption interruption,
      Limits limits) {
    this.directory = directory;
    this.runner = runner;
    this.model = model;
    this.listener = listener;
    this.interruption = interruption;
    this.limits = limits;
  }

  /**
   * Runs points until all are recorded or the user interrupts.
   *
   * @throws RunException when the run directory takes no more; what is in its journal stands
   */
  public Outcome run(List<Point> points) throws RunException {
    Deque<Attempt> waiting = new ArrayDeque<>();
    points.forEach(point -> waiting.add(new Attempt(point, 1)));
    List<Slot> running = new ArrayList<>();
    BlockingQueue<Slot> ended = new LinkedBlockingQueue<>();
    List<JournalEntry> entries = new ArrayList<>();
    boolean interrupted = false;
    try {
      while (!waiting.isEmpty() || !running.isEmpty()) {
        if (interruption.requested()) {
          interrupted = true;
          waiting.clear();
        }
        while (running.size() < limits.workers && !waiting.isEmpty()) {
          running.add(start(waiting.removeFirst(), ended));
        }
        Slot slot = ended.poll(TICK_MILLIS, TimeUnit.MILLISECONDS);
        if (slot != null && running.remove(slot)) {
          record(slot, slot.outcome(), points.size(), entries, waiting);
        }
        leaveBehind(running, points.size(), entries, waiting);
        listener.tick();
      }
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
      interrupted = true;
    } finally {
      running.forEach(Slot::cancel);
    }
    entries.sort((a, b) -> Integer.compare(a.index(), b.index()));
    return new Outcome(entries, interrupted && entries.size() < points.size());
  }

  private record Attempt(Point point, int number) {}

  private Slot start(Attempt attempt, BlockingQueue<Slot> ended) {
    Slot slot = new Slot(attempt);
    Thread thread = new Thread(() -> execute(slot, ended), "point-" + attempt.point.index());
    thread.setDaemon(true);
    thread.start();
    return slot;
  }

  private void execute(Slot slot, BlockingQueue<Slot> ended) {
    slot.timer.onThisThread();
    Ending ending;
    try {
      PointResult result = runner.run(slot.point, slot);
      Prediction prediction = model.apply(slot.point);
      ending =
          new Ending.Result(
              result, prediction, SamplesFile.encode(result.samples(), result.basis()));
    } catch (PointFailure failure) {
      if (failure.getCause() != null) {
        directory.log().fault(slot.point.id(), failure.getCause());
      }
      ending = new Ending.Failure(failure.kind(), failure.problem());
    } catch (RuntimeException | Error fault) {
      directory.log().fault(slot.point.id(), fault);
      Problem problem =
          isOutOfMemory(fault) ? memory(slot.point.id(), fault) : internal(slot.point, fault);
      ending = new Ending.Failure(PointFailure.Kind.FAILED, problem);
    }
    slot.ending = ending;
    ended.add(slot);
  }

  /**
   * Returns true if there was no memory left: also at an earlier time, for a class that could not
   * be initialised then.
   */
  public static boolean isOutOfMemory(Throwable fault) {
    String error = OutOfMemoryError.class.getName();
    return fault instanceof OutOfMemoryError
        || String.valueOf(fault.getMessage()).contains(error)
        || (fault.getCause() != null && isOutOfMemory(fault.getCause()));
  }

  /** Returns the problem of what takes more memory, or more addresses, than the JVM has. */
  public static Problem memory(@Nullable String where, Throwable fault) {
    String said = String.valueOf(fault.getMessage());
    if (said.contains("mmap failed")) {
      return Problem.of("DB-E054", where, said).fix("raise 'ulimit -v', or end other programs");
    }
    long heap = Runtime.getRuntime().maxMemory() >> 20;
    return Problem.of(
            "DB-E054", where, "this takes more than the %,d MiB of memory here".formatted(heap))
        .fix("ask for less, or give the JVM more: DOORBELL_JAVA_OPTS=-Xmx%dm".formatted(2 * heap));
  }

  private Problem internal(Point point, Throwable fault) {
    Path log = directory.path().resolve("log.txt");
    return Problem.of(
            "DB-P900",
            point.id(),
            "Doorbell itself failed: %s%s"
                .formatted(
                    fault.getClass().getSimpleName(),
                    fault.getMessage() == null ? "" : ": " + fault.getMessage()))
        .effect("this point has no result")
        .fix("please report it with " + log);
  }

  /** Gives up on points that neither end nor listen. */
  private void leaveBehind(
      List<Slot> running, int total, List<JournalEntry> entries, Deque<Attempt> waiting)
      throws RunException {
    for (Slot slot : List.copyOf(running)) {
      boolean late = slot.timer.isOver(limits.grace);
      boolean deaf = interruption.requested() && slot.sinceInterruption() > limits.grace.toNanos();
      if (late || deaf) {
        running.remove(slot);
        slot.cancel();
        record(
            slot,
            new Ending.Failure(
                deaf ? PointFailure.Kind.CANCELLED : PointFailure.Kind.TIMEOUT, timeout(slot)),
            total,
            entries,
            waiting);
      }
    }
  }

  private Problem timeout(Slot slot) {
    return Problem.of(
            "DB-P001",
            slot.point.id(),
            "not finished after %s s%s"
                .formatted(
                    seconds(limits.allowed.apply(slot.point)),
                    limits.virtual ? " of processor time" : ""))
        .effect("this point has no result")
        .fix("allow more with -s timeout=..., or ask for less with -s samples=...");
  }

  private void record(
      Slot slot, Ending ending, int total, List<JournalEntry> entries, Deque<Attempt> waiting)
      throws RunException {
    Point point = slot.point;
    JournalEntry entry =
        switch (ending) {
          case Ending.Result(PointResult result, Prediction prediction, byte[] samples) ->
              new JournalEntry(
                  point.index(),
                  point.id(),
                  JournalEntry.Status.OK,
                  result.basis(),
                  SamplesFile.name(point.id()),
                  Sha256.hex(samples),
                  result.counters(),
                  prediction.terms(),
                  result.verifiedBytes(),
                  result.notes(),
                  null,
                  slot.tallies,
                  slot.timer.wallNanos(),
                  slot.attempt);
          case Ending.Failure(PointFailure.Kind kind, Problem problem) ->
              failed(slot, kind, problem);
        };
    if (entry == null) {
      return;
    }
    directory.record(entry, ending instanceof Ending.Result result ? result.samples : null);
    boolean again =
        entry.status() == JournalEntry.Status.FAILED
            || entry.status() == JournalEntry.Status.TIMEOUT;
    if (again && slot.attempt <= limits.retries && !interruption.requested()) {
      directory.log().line("%s: attempt %d gave no result".formatted(point.id(), slot.attempt));
      waiting.addLast(new Attempt(point, slot.attempt + 1));
      return;
    }
    entries.add(entry);
    listener.recorded(point, entry, entries.size(), total);
  }

  /** A point that was cut short by its timeout counts as timed out; by the user, not at all. */
  private @Nullable JournalEntry failed(Slot slot, PointFailure.Kind kind, Problem problem) {
    JournalEntry.Status status =
        switch (kind) {
          case FAILED -> JournalEntry.Status.FAILED;
          case MISMATCH -> JournalEntry.Status.MISMATCH;
          case TIMEOUT -> JournalEntry.Status.TIMEOUT;
          case WAIVED -> JournalEntry.Status.WAIVED;
          case CANCELLED -> slot.late() ? JournalEntry.Status.TIMEOUT : null;
        };
    if (status == null) {
      return null;
    }
    Problem told = kind == PointFailure.Kind.CANCELLED ? timeout(slot) : problem;
    return JournalEntry.without(
        slot.point.index(),
        slot.point.id(),
        status,
        told,
        slot.tallies,
        slot.timer.wallNanos(),
        slot.attempt);
  }

  private sealed interface Ending {
    @SuppressWarnings("ArrayRecordComponent") // handed over once, never compared
    record Result(PointResult result, Prediction prediction, byte[] samples) implements Ending {}

    record Failure(PointFailure.Kind kind, Problem problem) implements Ending {}
  }

  private final class Slot implements PointContext {
    private final Point point;
    private final int attempt;
    private final PointTimer timer;
    private volatile boolean stop;
    private volatile @Nullable Ending ending;
    private volatile List<FaultTally> tallies = List.of();
    private long interruptedAt;

    Slot(Attempt attempt) {
      this.point = attempt.point;
      this.attempt = attempt.number;
      this.timer = new PointTimer(limits.virtual, limits.allowed.apply(point));
    }

    @Override
    public boolean cancelled() {
      return stop || interruption.requested() || late();
    }

    @Override
    public void log(String line) {
      directory.log().line(point.id() + ": " + line);
    }

    @Override
    public void faults(List<FaultTally> told) {
      tallies = List.copyOf(told);
    }

    boolean late() {
      return timer.isOver(Duration.ZERO);
    }

    /** Time since the run's thread first saw the interruption; called by that thread alone. */
    long sinceInterruption() {
      if (interruptedAt == 0) {
        interruptedAt = System.nanoTime();
      }
      return System.nanoTime() - interruptedAt;
    }

    void cancel() {
      stop = true;
    }

    Ending outcome() {
      Ending known = ending;
      if (known == null) {
        throw new IllegalStateException("point %s has not ended".formatted(point.id()));
      }
      return known;
    }
  }

  /** With all its digits and no more. */
  private static String seconds(Duration time) {
    return BigDecimal.valueOf(time.toMillis(), 3).stripTrailingZeros().toPlainString();
  }

  /** Is notified of a run's progress, always on the thread that called {@link RunExecution#run}. */
  public interface RunListener {
    RunListener SILENT =
        new RunListener() {
          @Override
          public void recorded(Point point, JournalEntry entry, int done, int total) {}

          @Override
          public void tick() {}
        };

    /**
     * A point is recorded.
     *
     * @param done points recorded so far, this one included
     * @param total points of this run
     */
    void recorded(Point point, JournalEntry entry, int done, int total);

    /** Some time has passed; called a few times a second. */
    void tick();
  }
}
