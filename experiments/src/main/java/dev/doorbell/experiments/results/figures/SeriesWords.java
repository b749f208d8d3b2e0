package dev.doorbell.experiments.results.figures;

import dev.doorbell.core.problem.Nearest;
import dev.doorbell.experiments.config.figure.FigureSpec;
import dev.doorbell.experiments.config.figure.FigureStyle;
import dev.doorbell.experiments.config.value.Axis;
import dev.doorbell.experiments.config.value.Value;
import dev.doorbell.experiments.results.print.Names;
import dev.doorbell.experiments.run.RunData;
import dev.doorbell.experiments.run.SummaryRow;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.SequencedMap;
import java.util.SequencedSet;

/**
 * What a figure's description says in words of the run: the order of its series, the one that the
 * others are multiples of, and what is printed in place of what.
 */
final class SeriesWords {
  private final RunData run;
  private final FigureSpec spec;
  private final List<String> series;

  /**
   * Reads a description.
   *
   * @throws Unplottable when it names a series, or renames something, that there is not
   */
  SeriesWords(RunData run, FigureSpec spec) throws Unplottable {
    this.run = run;
    this.spec = spec;
    List<String> all = spec.series().isEmpty() ? List.of(spec.y()) : Names.alone(axis());
    SequencedSet<String> ordered = new LinkedHashSet<>();
    for (String first : spec.style().order()) {
      ordered.add(known("order", first, all));
    }
    ordered.addAll(all);
    this.series = List.copyOf(ordered);
  }

  private Axis axis() {
    return run.axes().stream()
        .filter(axis -> axis.name().equals(spec.series()))
        .findFirst()
        .orElseThrow();
  }

  /** All series in the order of the legend. */
  List<String> series() {
    return series;
  }

  /** Those that are there, in the order of the legend. */
  List<String> series(List<String> present) {
    return series.stream().filter(present::contains).toList();
  }

  /** The series that others are multiples of; empty where there is none. */
  String relative() throws Unplottable {
    return spec.relative().isEmpty() ? "" : known("relative", spec.relative(), series);
  }

  /** A series by its value or as the legend calls it. */
  private String known(String key, String asked, List<String> all) throws Unplottable {
    if (!spec.series().isEmpty()) {
      for (Value value : axis().values()) {
        if (value.text().equals(asked) || Names.value(axis(), value).equals(asked)) {
          return Names.alone(axis(), value);
        }
      }
    }
    if (all.contains(asked)) {
      return asked;
    }
    throw Unplottable.because(
        run.runId(),
        "%s names '%s', which is no series%s".formatted(key, asked, Nearest.suggestion(asked, all)),
        "its series: " + String.join(", ", all));
  }

  /**
   * The style with its names in the words that figures would print. A name may be given for an axis
   * or a metric, for a value ({@code pull}, {@code senders=8}), or for a text of the figure.
   */
  FigureStyle style() throws Unplottable {
    SequencedMap<String, String> given = spec.style().names();
    if (given.isEmpty()) {
      return spec.style();
    }
    SequencedMap<String, List<String>> known = known();
    SequencedMap<String, String> names = new LinkedHashMap<>();
    for (var entry : given.entrySet()) {
      List<String> printed = known.get(entry.getKey());
      if (printed == null) {
        List<String> words = List.copyOf(known.sequencedKeySet());
        throw Unplottable.because(
            run.runId(),
            "names has '%s', which is nothing of the run%s"
                .formatted(entry.getKey(), Nearest.suggestion(entry.getKey(), words)),
            "an axis, a metric, or a value of an axis, such as %s"
                .formatted(String.join(", ", words.subList(0, Math.min(8, words.size())))));
      }
      printed.forEach(text -> names.put(text, entry.getValue()));
    }
    return spec.style().naming(names);
  }

  /** What may be renamed, with the texts that stand for it in figures. */
  private SequencedMap<String, List<String>> known() {
    SequencedMap<String, List<String>> known = new LinkedHashMap<>();
    for (Axis axis : run.axes()) {
      add(known, axis.name(), axis.name(), Names.title(axis.name()));
      for (Value value : axis.values()) {
        String alone = Names.alone(axis, value);
        String shown = Names.value(axis, value);
        // What panels are called after axes that a figure does not speak of.
        String place = Names.title(axis.name()) + " " + shown;
        add(known, value.text(), alone, shown, value.text(), place);
        add(known, axis.name() + "=" + value.text(), alone, shown, place);
        add(known, alone, alone);
        add(known, shown, shown, alone);
      }
    }
    for (SummaryRow row : run.rows()) {
      for (String metric : row.metrics().sequencedKeySet()) {
        add(known, metric, metric, Names.title(metric));
      }
      row.counters().sequencedKeySet().forEach(name -> add(known, name, name, Names.title(name)));
    }
    return known;
  }

  private static void add(SequencedMap<String, List<String>> known, String word, String... texts) {
    List<String> all = known.computeIfAbsent(word, _ -> new ArrayList<>());
    for (String text : texts) {
      if (!all.contains(text)) {
        all.add(text);
      }
    }
  }
}
