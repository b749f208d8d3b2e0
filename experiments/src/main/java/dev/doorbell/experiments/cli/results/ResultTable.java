package dev.doorbell.experiments.cli.results;

import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.config.value.Axis;
import dev.doorbell.experiments.plan.FaultTally;
import dev.doorbell.experiments.plan.Prediction;
import dev.doorbell.experiments.results.print.Screen;
import dev.doorbell.experiments.results.print.TableBuilder;
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
import dev.doorbell.experiments.stats.SampleWarning;
import dev.doorbell.experiments.stats.Summary;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** A run as text: one row a point, crossovers, and what the numbers are called. */
public final class ResultTable {
  private static final String NONE = "-";

  /** Lines that cross more often lie on top of each other. */
  private static final int MOST_CROSSINGS = 2;

  private final RunData data;
  private final List<Axis> axes;
  private final SequencedMap<String, String> metrics = new LinkedHashMap<>();
  private final SequencedMap<String, String> counters = new LinkedHashMap<>();

  private ResultTable(RunData data) {
    this.data = data;
    this.axes =
        data.axes().size() == 1
            ? data.axes()
            : data.axes().stream().filter(axis -> axis.values().size() > 1).toList();
    for (SummaryRow row : data.rows()) {
      row.metrics().forEach((name, metric) -> metrics.putIfAbsent(name, metric.samples().unit()));
      row.counters().forEach((name, counter) -> counters.putIfAbsent(name, counter.unit()));
    }
  }

  /** The whole text, ending in a newline. */
  public static String text(StoredRun run) {
    ResultTable table = new ResultTable(run.data());
    StringBuilder text = new StringBuilder();
    if (!run.data().rows().isEmpty()) {
      text.append(table.shared()).append(table.rows()).append(table.crossovers());
      text.append(table.expectations());
    }
    return text.append(failures(run))
        .append(retries(run))
        .append(notes(run))
        .append(warnings(run.data()))
        .append(faults(run))
        .append(verdict(run))
        .toString();
  }

  /** The number of warnings about samples. */
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
    return "warnings  %s; doorbell table RUN --warnings says where and what to do%n"
        .formatted(kinds);
  }

  /** Points that did not give a result at once. */
  private static String retries(StoredRun run) {
    List<String> again =
        run.entries().stream()
            .filter(entry -> entry.status() == JournalEntry.Status.OK && entry.attempt() > 1)
            .map(entry -> "%s (attempt %d)".formatted(entry.point(), entry.attempt()))
            .toList();
    return again.isEmpty() ? "" : "retried  %s%n".formatted(String.join(", ", again));
  }

  /** Conditions of --until that were not reached. */
  private static String notes(StoredRun run) {
    StringBuilder text = new StringBuilder();
    for (JournalEntry entry : run.entries()) {
      entry.notes().stream()
          .filter(note -> note.contains("was not reached"))
          .forEach(note -> text.append("note  %s  %s%n".formatted(entry.point(), note)));
    }
    return text.toString();
  }

  /** Axes with one value would be a column that says the same in every row. */
  private String shared() {
    String line =
        data.axes().stream()
            .filter(axis -> !axes.contains(axis))
            .map(axis -> axis.name() + " " + Screen.value(axis.values().getFirst(), axis.unit()))
            .collect(Collectors.joining("   "));
    return line.isEmpty() ? "" : "all at " + line + "\n";
  }

  private String rows() {
    TableBuilder<SummaryRow> table = Screen.axes(new TableBuilder<>(), axes, SummaryRow::axes);
    metrics.forEach((name, unit) -> metric(table, name, unit));
    counters.forEach(
        (name, unit) ->
            table.right(
                (name + " " + unit).strip(),
                row ->
                    Optional.ofNullable(row.counters().get(name))
                        .map(counter -> count(counter.value()))
                        .orElse(NONE)));
    return table.table(data.rows(), List.of()).text();
  }

  private void metric(TableBuilder<SummaryRow> table, String name, String unit) {
    table.right(
        "%s p50 %s".formatted(name, Screen.unit(unit)),
        row -> shown(row, name, summary -> Screen.metric(summary.median(), unit)));
    table.left(
        "[95 % CI]",
        row ->
            shown(
                row,
                name,
                summary -> Screen.interval(new Interval(summary.lower(), summary.upper()), unit)));
    if (unit.equals("ns")) {
      table.right("p99", row -> shown(row, name, summary -> Screen.metric(summary.p99(), unit)));
    }
    if (data.rows().stream().anyMatch(row -> model(row, name).isPresent())) {
      table.right(
          "model",
          row ->
              shown(
                  row,
                  name,
                  _ ->
                      model(row, name)
                          .map(
                              term ->
                                  (term.ceiling() ? "<= " : "") + Screen.metric(term.value(), unit))
                          .orElse(NONE)));
      table.right(
          "residual",
          row ->
              shown(
                  row,
                  name,
                  summary ->
                      model(row, name)
                          .filter(term -> term.value() != 0)
                          .map(term -> Screen.percent(summary.median() / term.value() - 1))
                          .orElse(NONE)));
    }
  }

  private static Optional<Prediction.Term> model(SummaryRow row, String metric) {
    return Optional.ofNullable(row.metrics().get(metric)).flatMap(MetricRow::model);
  }

  /** A statistic of a metric where the point has samples of it. */
  private static String shown(SummaryRow row, String name, Function<Summary, String> statistic) {
    MetricRow metric = row.metrics().get(name);
    return metric == null || metric.samples().size() == 0
        ? NONE
        : statistic.apply(SummaryFiles.summary(row, metric));
  }

  private static String count(double value) {
    return value == Math.rint(value)
        ? Long.toString((long) value)
        : String.format(Locale.ROOT, "%.2f", value);
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

  /** What was expected of the run, and what became of it. */
  private String expectations() {
    StringBuilder text = new StringBuilder();
    for (Expectations.Found found : Expectations.of(data)) {
      text.append(
          "expected  %-12s  %s%n  found   %s%n"
              .formatted(found.verdict().text(), found.expectation().text(), found.why()));
      if (found.verdict() == Expectations.Verdict.NOT_MET) {
        String known = found.expectation().scope().known();
        text.append("  source  %s%n".formatted(found.expectation().scope().source()))
            .append(known.isEmpty() ? "" : "  known   %s%n".formatted(known));
      }
    }
    return text.toString();
  }

  /** Of a time the lower one is named, of a rate the slower one. */
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
          "%s below %s [%s, %s]%s"
              .formatted(
                  words.formatted(metric, SummaryFiles.lead(found, crossing.before())),
                  Screen.roughBytes(crossing.size()),
                  Screen.roughBytes(crossing.interval().lower()),
                  Screen.roughBytes(crossing.interval().upper()),
                  crossing.support() < 0.95
                      ? String.format(
                          Locale.ROOT, " (in %.0f %% of resamples)", crossing.support() * 100)
                      : ""));
    }
    return String.join(", then ", parts);
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

  /** What the fault plan did, and what it had to do and did not. */
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
    for (FaultTally tally : run.faults()) {
      if (tally.missed() && run.unfinished().isEmpty()) {
        text.append("failed  ").append(missed(tally).text()).append('\n');
      }
    }
    return text.toString();
  }

  private static Problem missed(FaultTally tally) {
    String what =
        tally.events() == 0
            ? "a fault that must fire never met an event that it is meant for"
            : String.format(
                Locale.ROOT,
                "a fault that must fire did not, in %,d events that it is meant for",
                tally.events());
    return Problem.of("DB-F007", tally.fault(), what)
        .effect("the run has failed: what it was to show was not provoked")
        .fix("look at its 'at', 'after', 'target' and 'opcode'; doc: docs/faults.md");
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
