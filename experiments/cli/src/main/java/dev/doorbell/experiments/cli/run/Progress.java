package dev.doorbell.experiments.cli.run;

import dev.doorbell.experiments.cli.command.Terminal;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.results.print.Screen;
import dev.doorbell.experiments.run.JournalEntry;
import dev.doorbell.experiments.run.RunExecution.RunListener;
import java.io.PrintStream;
import java.util.List;
import java.util.function.ToLongFunction;

/**
 * Shows the progress of a run: one line that is rewritten on a terminal, a line every tenth of the
 * points elsewhere. The time left comes from the points' estimates, scaled by how the run went so
 * far.
 */
final class Progress implements RunListener {
  private static final int BAR = 32;

  /** Columns of a terminal whose width is unknown, as where results go to a file. */
  private static final int USUAL_WIDTH = 80;

  /** Columns below which a point's name is left out. */
  private static final int LEAST_NAME = 8;

  private static final long REFRESH_NANOS = 200_000_000;

  private final PrintStream out;
  private final boolean interactive;
  private final int width;
  private final ToLongFunction<Point> estimate;
  private final long start = System.nanoTime();
  private final double totalWork;
  private final int total;
  private double doneWork;
  private int done;
  private int problems;
  private String last = "";
  private long shownAt = start;
  private boolean shown;

  Progress(Terminal terminal, List<Point> points, ToLongFunction<Point> estimate) {
    this.out = terminal.err();
    this.interactive = terminal.interactive();
    this.width = terminal.width() == Terminal.UNLIMITED ? USUAL_WIDTH : terminal.width();
    this.estimate = estimate;
    this.total = points.size();
    this.totalWork =
        points.stream().mapToDouble(point -> Math.max(1, estimate.applyAsLong(point))).sum();
  }

  @Override
  public void recorded(Point point, JournalEntry entry, int doneNow, int totalNow) {
    doneWork += Math.max(1, estimate.applyAsLong(point));
    int tenth = done * 10 / total;
    done = doneNow;
    last = point.id();
    if (entry.problem() != null && entry.status() != JournalEntry.Status.WAIVED) {
      problems++;
    }
    if (!interactive && (doneNow * 10 / total > tenth)) {
      out.printf("%d/%d points%s  ETA %s%n", done, total, failures(), Screen.minutes(left()));
    }
  }

  @Override
  public void tick() {
    long now = System.nanoTime();
    if (interactive && now - shownAt > REFRESH_NANOS) {
      shownAt = now;
      shown = true;
      out.print("\r\033[K" + line());
      out.flush();
    }
  }

  /**
   * The line, of which the point's name and then the bar give way to a narrow terminal: one that
   * wrapped could not be cleared.
   */
  String line() {
    int filled = BAR * done / total;
    String bar = "[%s%s] ".formatted("#".repeat(filled), "-".repeat(BAR - filled));
    String counts = "%d/%d%s".formatted(done, total, failures());
    String eta = "  ETA " + (done == 0 ? "--:--" : Screen.minutes(left()));
    int room = width - 1 - bar.length() - counts.length() - eta.length();
    if (room < 0) {
      return counts + eta;
    }
    String point =
        last.length() + 2 <= room ? last : last.substring(0, Math.max(0, room - 3)) + "~";
    return bar + counts + (room < LEAST_NAME ? "" : "  " + point) + eta;
  }

  void end() {
    if (shown) {
      out.print("\r\033[K");
      out.flush();
    }
  }

  private String failures() {
    return problems == 0 ? "" : "  %d without a result".formatted(problems);
  }

  private long left() {
    double spent = System.nanoTime() - start;
    return doneWork == 0 ? 0 : (long) (spent * (totalWork - doneWork) / doneWork);
  }
}
