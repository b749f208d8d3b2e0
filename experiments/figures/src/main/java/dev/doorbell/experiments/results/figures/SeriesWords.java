package dev.doorbell.experiments.results.figures;

import dev.doorbell.core.problem.Nearest;
import dev.doorbell.experiments.config.figure.FigureSpec;
import dev.doorbell.experiments.config.figure.FigureStyle;
import dev.doorbell.experiments.config.figure.FigureStyle.Role;
import dev.doorbell.experiments.config.value.Axis;
import dev.doorbell.experiments.config.value.Value;
import dev.doorbell.experiments.results.print.Names;
import dev.doorbell.experiments.run.RunData;
import dev.doorbell.experiments.run.SummaryRow;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.SequencedSet;
import java.util.stream.Collectors;

/**
 * Series of a figure in the run's words: their order, the one that the others are multiples of, and
 * the names that are printed.
 */
final class SeriesWords {
  private final RunData run;
  private final FigureSpec spec;
  private final List<String> series;

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

  List<String> series() {
    return series;
  }

  List<String> series(List<String> present) {
    return series.stream().filter(present::contains).toList();
  }

  /** The series that others are multiples of; empty where there is none. */
  String relative() throws Unplottable {
    return spec.relative().isEmpty() ? "" : known("relative", spec.relative(), series);
  }

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
   * A value of the facet in a panel's title: with its axis where another axis has the same value,
   * so that nobody takes one for the other.
   */
  static String facet(List<Axis> axes, Axis facet, Value value) {
    boolean shared =
        axes.stream()
            .filter(axis -> !axis.name().equals(facet.name()))
            .anyMatch(axis -> axis.values().contains(value));
    return shared
        ? Names.title(facet.name()) + " " + Names.value(facet, value)
        : Names.alone(facet, value);
  }

  /**
   * The style with its names in the words that figures would print, each in its role. A name may be
   * given for an axis or a metric, for a value of all axes ({@code pull}) or of one ({@code
   * senders=8}, which goes before), or for a text of the figure.
   */
  FigureStyle style() throws Unplottable {
    SequencedMap<String, String> given = spec.style().names();
    if (given.isEmpty()) {
      return spec.style();
    }
    SequencedSet<String> known = new LinkedHashSet<>();
    Map<Role, Map<String, String>> names = new EnumMap<>(Role.class);
    for (Axis axis : run.axes()) {
      known.add(axis.name());
      for (Value value : axis.values()) {
        List<String> words =
            List.of(
                value.text(),
                Names.alone(axis, value),
                Names.value(axis, value),
                axis.name() + "=" + value.text());
        known.addAll(words);
        String name = given.get(axis.name());
        String shown = Names.value(axis, value);
        String printed = printed(axis, value);
        if (name != null && !printed.equals(shown)) {
          put(names, role(axis), printed, (name + " " + shown).strip());
        }
        words.stream()
            .filter(given::containsKey)
            .forEach(word -> put(names, role(axis), printed, given.getOrDefault(word, "")));
      }
    }
    for (SummaryRow row : run.rows()) {
      known.addAll(row.metrics().sequencedKeySet());
      known.addAll(row.counters().sequencedKeySet());
    }
    if (spec.series().isEmpty()) {
      spec.style().named(spec.y()).ifPresent(name -> put(names, Role.SERIES, spec.y(), name));
    }
    for (String word : given.sequencedKeySet()) {
      if (!known.contains(word)) {
        throw Unplottable.because(
            run.runId(),
            "names has '%s', which is nothing of the run%s"
                .formatted(word, Nearest.suggestion(word, known)),
            "an axis, a metric, or a value of an axis, such as %s"
                .formatted(known.stream().limit(8).collect(Collectors.joining(", "))));
      }
    }
    return spec.style().naming(names);
  }

  private static void put(
      Map<Role, Map<String, String>> names, Role role, String word, String name) {
    names.computeIfAbsent(role, _ -> new LinkedHashMap<>()).put(word, name);
  }

  private Role role(Axis axis) {
    String name = axis.name();
    return name.equals(spec.series())
        ? Role.SERIES
        : name.equals(spec.x()) ? Role.ABSCISSA : name.equals(spec.rows()) ? Role.ROW : Role.PANEL;
  }

  private String printed(Axis axis, Value value) {
    return switch (role(axis)) {
      case SERIES -> Names.alone(axis, value);
      case ABSCISSA, ROW -> Names.value(axis, value);
      case PANEL ->
          axis.name().equals(spec.facet())
              ? facet(run.axes(), axis, value)
              : Names.title(axis.name()) + " " + Names.value(axis, value);
    };
  }
}
