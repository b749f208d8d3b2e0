package dev.doorbell.experiments.results.tables;

import dev.doorbell.core.Basis;
import dev.doorbell.core.problem.Typed;
import dev.doorbell.experiments.plan.FaultTally;
import dev.doorbell.experiments.results.print.Screen;
import dev.doorbell.experiments.results.print.Table;
import dev.doorbell.experiments.run.Crossings;
import dev.doorbell.experiments.run.Expectations;
import dev.doorbell.experiments.run.JournalEntry;
import dev.doorbell.experiments.run.Manifest;
import dev.doorbell.experiments.run.MetricRow;
import dev.doorbell.experiments.run.RunData;
import dev.doorbell.experiments.run.StoredRun;
import dev.doorbell.experiments.run.SummaryFiles;
import dev.doorbell.experiments.run.SummaryRow;
import dev.doorbell.experiments.stats.Crossover;
import dev.doorbell.experiments.stats.Interval;
import dev.doorbell.experiments.stats.SampleSize;
import dev.doorbell.experiments.stats.SampleWarning;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** A run as text: one row a point, crossovers, and what the numbers are called. */
public final class ResultTable {
  private static final int MOST_LINES = 24;

  /** Lines that cross more often lie on top of each other. */
  private static final int MOST_CROSSINGS = 2;

  private final RunData data;

  private ResultTable(RunData data) {
    this.data = data;
  }

  /** The whole text with every metric, ending in a newline. */
  public static String text(StoredRun run, int width) {
    return text(run, run.data(), new RunTables.Look(RunTables.USUAL), width);
  }

  /**
   * The whole text, ending in a newline.
   *
   * @param shown the points and metrics of the run that have rows and columns
   * @param look columns of each metric
   * @param width of the terminal: a wider table is printed in blocks, longer lines are folded
   */
  public static String text(StoredRun run, RunData shown, RunTables.Look look, int width) {
    ResultTable table = new ResultTable(run.data());
    StringBuilder text = new StringBuilder();
    if (!shown.rows().isEmpty()) {
      Table rows = RunTables.summary(shown, look, true).ascii();
      text.append(Screen.folded(new ResultTable(shown).shared(), width))
          .append(new Table(rows.columns(), rows.rows(), List.of()).text(width));
    }
    return text + Screen.folded(table.below(run), width);
  }

  /**
   * The first screen of a run: the question, the answer, and where the rest is; the whole text
   * where that is no longer.
   *
   * @param credit how far such numbers have been off, a line or none
   */
  public static String brief(StoredRun run, String credit, int width) {
    String whole = text(run, width);
    Optional<Answer> answer = Answer.of(run.data());
    if (answer.isEmpty() || whole.lines().count() <= MOST_LINES) {
      return whole;
    }
    Map<Expectations.Verdict, Long> verdicts =
        Expectations.of(run.data()).stream()
            .collect(
                Collectors.groupingBy(
                    Expectations.Found::verdict,
                    () -> new EnumMap<>(Expectations.Verdict.class),
                    Collectors.counting()));
    String expected =
        verdicts.isEmpty()
            ? ""
            : "expected  %s%n"
                .formatted(
                    verdicts.entrySet().stream()
                        .map(each -> "%d %s".formatted(each.getValue(), each.getKey().text()))
                        .collect(Collectors.joining(", ")));
    String rest =
        Typed.in("rest     doorbell table RUN: every row, crossovers, expectations; run --full%n")
            .formatted();
    return Screen.folded(run.data().question().strip(), width)
        + "\n"
        + Screen.folded(new ResultTable(run.data()).shared(), width)
        + answer.get().text(width)
        + Screen.folded(
            expected
                + credit
                + failures(run)
                + retries(run)
                + faults(run)
                + oneProcess(run)
                + verdict(run)
                + rest,
            width);
  }

  private String below(StoredRun run) {
    StringBuilder text = new StringBuilder();
    if (!data.rows().isEmpty()) {
      text.append(crossovers()).append(expectations());
    }
    return text.append(failures(run))
        .append(retries(run))
        .append(notes(run))
        .append(warnings(run.data()))
        .append(faults(run))
        .append(oneProcess(run))
        .append(verdict(run))
        .toString();
  }

  private static String warnings(RunData data) {
    Map<SampleWarning.Kind, Integer> counts = new EnumMap<>(SampleWarning.Kind.class);
    for (SummaryRow row : data.rows()) {
      for (MetricRow metric : row.metrics().values()) {
        metric.warnings().forEach(warning -> counts.merge(warning.kind(), 1, Integer::sum));
      }
    }
    if (counts.isEmpty()) {
      return "";
    }
    String kinds =
        counts.entrySet().stream()
            .map(e -> e.getValue() + " " + e.getKey().word())
            .collect(Collectors.joining(", "));
    return Typed.in("warnings  %s; doorbell table RUN --warnings says where and what to do%n")
        .formatted(kinds);
  }

  private static String retries(StoredRun run) {
    List<String> again =
        run.entries().stream()
            .filter(entry -> entry.status() == JournalEntry.Status.OK && entry.attempt() > 1)
            .map(entry -> "%s (attempt %d)".formatted(entry.point(), entry.attempt()))
            .toList();
    return again.isEmpty() ? "" : "retried  %s%n".formatted(String.join(", ", again));
  }

  private static String notes(StoredRun run) {
    StringBuilder text = new StringBuilder();
    for (JournalEntry entry : run.entries()) {
      entry.notes().stream()
          .filter(note -> note.contains("was not reached"))
          .forEach(note -> text.append("note  %s  %s%n".formatted(entry.point(), note)));
    }
    return text.toString();
  }

  /** In wall time processes differ, which intervals of one process do not show. */
  private static String oneProcess(StoredRun run) {
    boolean one =
        run.data().basis() != Basis.MODELLED
            && run.plan().config().measure().processes() == 1
            && run.data().rows().stream()
                .flatMap(row -> row.metrics().values().stream())
                .anyMatch(metric -> SampleSize.carriesInterval(metric.samples().size()));
    return one
        ? "note  intervals are of one process, and processes differ by more: --processes 5\n"
        : "";
  }

  /** Axes with one value would be a column that says the same in every row. */
  private String shared() {
    String line =
        data.axes().stream()
            .filter(axis -> data.axes().size() > 1 && axis.values().size() == 1)
            .map(axis -> axis.name() + " " + Screen.value(axis.values().getFirst(), axis.unit()))
            .collect(Collectors.joining("   "));
    return line.isEmpty() ? "" : "all at " + line + "\n";
  }

  private String crossovers() {
    StringBuilder text = new StringBuilder();
    for (Crossings.Found found : Crossings.of(data)) {
      String place =
          Stream.concat(
                  Stream.of(found.place()).filter(by -> !by.isEmpty()),
                  found.others().entrySet().stream().map(Crossings::place))
              .collect(Collectors.joining(" "));
      text.append(
          "crossover %s/%s  %s  %s%n"
              .formatted(found.contrast().first(), found.contrast().second(), place, lower(found)));
    }
    return text.toString();
  }

  private String expectations() {
    StringBuilder text = new StringBuilder();
    int untestable = 0;
    for (Expectations.Found found : Expectations.of(data)) {
      if (found.verdict() == Expectations.Verdict.NOT_TESTABLE) {
        untestable++;
        continue;
      }
      text.append(
          "expected  %-12s  %s%n  found   %s%n"
              .formatted(found.verdict().text(), found.expectation().text(), found.why()));
      if (found.verdict() == Expectations.Verdict.NOT_MET) {
        String known = found.expectation().scope().known();
        text.append("  source  %s%n".formatted(found.expectation().scope().source()))
            .append(known.isEmpty() ? "" : "  known   %s%n".formatted(known));
      }
    }
    if (untestable > 0) {
      text.append(
          Typed.in(
                  "expected  %-12s  %d more, which the points of this run cannot decide;"
                      + " doorbell table RUN --expectations lists them%n")
              .formatted(Expectations.Verdict.NOT_TESTABLE.text(), untestable));
    }
    return text.toString();
  }

  /** Names the lower of two times and the slower of two rates. */
  private String lower(Crossings.Found found) {
    String metric = found.contrast().metric();
    boolean rate =
        data.rows().stream()
            .flatMap(row -> Stream.ofNullable(row.metrics().get(metric)))
            .anyMatch(row -> row.samples().unit().endsWith("/s"));
    String words = rate ? "%s of %s slower" : "%s of %s lower";
    if (found.crossover().crossings().isEmpty()) {
      String lead = SummaryFiles.lead(found, found.crossover().firstLead());
      return lead.isEmpty()
          ? "%s the same throughout".formatted(metric)
          : words.formatted(metric, lead) + " throughout";
    }
    if (found.crossover().crossings().size() > MOST_CROSSINGS) {
      return "no clear winner: %s of the two crosses %d times"
          .formatted(metric, found.crossover().crossings().size());
    }
    List<String> parts = new ArrayList<>();
    for (Crossover.Crossing crossing : found.crossover().crossings()) {
      parts.add(
          "%s below %s %s"
              .formatted(
                  words.formatted(metric, SummaryFiles.lead(found, crossing.before())),
                  Screen.roughBytes(crossing.size()),
                  crossing.interval().map(ci -> interval(ci, crossing.support())).orElse("[-]")));
    }
    return String.join(", then ", parts);
  }

  private static String interval(Interval interval, double support) {
    return "[%s, %s]%s"
        .formatted(
            Screen.roughBytes(interval.lower()),
            Screen.roughBytes(interval.upper()),
            support < 0.95
                ? String.format(Locale.ROOT, " (in %.0f %% of resamples)", support * 100)
                : "");
  }

  private static String failures(StoredRun run) {
    StringBuilder text = new StringBuilder();
    for (JournalEntry entry : run.entries()) {
      if (entry.problem() != null) {
        text.append(entry.status().name().toLowerCase(Locale.ROOT))
            .append("  ")
            .append(entry.problem().text())
            .append('\n');
      }
    }
    return text.toString();
  }

  private static String faults(StoredRun run) {
    StringBuilder text = new StringBuilder();
    for (FaultTally tally : run.faults()) {
      text.append(
          String.format(
              Locale.ROOT,
              "fault  fired %,d of %,d  %s%n",
              tally.fired(),
              tally.events(),
              tally.fault()));
    }
    for (FaultTally tally : run.missedFaults()) {
      text.append("failed  ").append(tally.problem().text()).append('\n');
    }
    return text.toString();
  }

  private static String verdict(StoredRun run) {
    long ok = count(run, JournalEntry.Status.OK);
    long bytes = run.entries().stream().mapToLong(JournalEntry::verifiedBytes).sum();
    long failed = count(run, JournalEntry.Status.FAILED) + count(run, JournalEntry.Status.MISMATCH);
    long late = count(run, JournalEntry.Status.TIMEOUT);
    int missing = run.plan().points().size() - run.entries().size();
    StringBuilder text =
        new StringBuilder(
            String.format(
                Locale.ROOT,
                "%d of %d points verified (%,d bytes compared); %d failed; %d waived",
                ok,
                run.plan().points().size(),
                bytes,
                failed,
                count(run, JournalEntry.Status.WAIVED)));
    if (late > 0) {
      text.append("; %d timed out".formatted(late));
    }
    if (missing > 0) {
      text.append("; %d not run".formatted(missing));
    }
    if (missing > 0 && run.manifest().state() == Manifest.State.RUNNING) {
      text.append("; the run goes on, or was killed and can be resumed");
    }
    return text.append(".\n").append(Screen.basis(run.data().basis())).append('\n').toString();
  }

  private static long count(StoredRun run, JournalEntry.Status status) {
    return run.entries().stream().filter(entry -> entry.status() == status).count();
  }
}
