package dev.doorbell.experiments.results.figures;

import dev.doorbell.experiments.config.figure.FigureKind;
import dev.doorbell.experiments.config.figure.FigureReader;
import dev.doorbell.experiments.config.figure.FigureSpec;
import dev.doorbell.experiments.config.figure.FigureStyle;
import dev.doorbell.experiments.config.value.Axis;
import dev.doorbell.experiments.run.RunData;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Fills in the parts that a figure leaves open: from the config's first figure of that metric, else
 * from the axes that vary.
 */
final class FigureDefaults {
  private final RunData run;
  private final FigureSpec asked;
  private final Optional<FigureSpec> own;

  private FigureDefaults(RunData run, FigureSpec asked) {
    this.run = run;
    this.asked = asked;
    this.own =
        run.figures().stream()
            .filter(figure -> asked.y().isEmpty() || figure.y().equals(asked.y()))
            .filter(figure -> !figure.y().isEmpty())
            .findFirst()
            .or(() -> run.figures().stream().filter(figure -> !figure.y().isEmpty()).findFirst());
  }

  static FigureSpec fill(RunData run, FigureSpec asked) {
    return new FigureDefaults(run, asked).filled();
  }

  /**
   * The figure over the axis that was swept: where its own abscissa has one value, the axis of
   * numbers that has the most; else one that no figure of the experiment names and that has more
   * values than the abscissa. Other figures stay as they are; one over words is refused elsewhere.
   */
  static FigureSpec overWhatVaries(RunData part, FigureSpec figure) {
    Optional<Axis> own =
        part.axes().stream().filter(axis -> axis.name().equals(figure.x())).findFirst();
    if (figure.kind() != FigureKind.LINE || own.isEmpty() || !FigureReader.numeric(own.get())) {
      return figure;
    }
    int values = own.get().values().size();
    return part.axes().stream()
        .filter(axis -> axis.values().size() > values && FigureReader.numeric(axis))
        .filter(axis -> !axis.name().equals(figure.series()))
        .filter(axis -> values == 1 || part.figures().stream().noneMatch(f -> f.names(axis.name())))
        .max(Comparator.comparingInt(axis -> axis.values().size()))
        .map(axis -> figure.over(axis.name()))
        .orElse(figure);
  }

  private FigureSpec filled() {
    FigureKind kind = asked.kind();
    String metric = asked.y().isEmpty() ? own.map(FigureSpec::y).orElse(firstMetric()) : asked.y();
    String series =
        taken(
            asked.series(),
            own.map(FigureSpec::series).orElse(""),
            asked.x(),
            asked.facet(),
            asked.rows());
    String facet = asked.facet();
    String x = asked.x();
    String rows = asked.rows();
    switch (kind) {
      case LINE -> {
        x = taken(x, own.map(FigureSpec::x).orElse(""), series, facet);
        facet = taken(facet, own.map(FigureSpec::facet).orElse(""), x, series);
      }
      case CDF -> facet = taken(facet, own.map(FigureSpec::facet).orElse(""), series);
      case BAR -> {
        String panels = own.map(FigureSpec::facet).orElse("");
        x = varies(panels) ? taken(x, panels, series, facet) : x;
        x = x.isEmpty() ? varying(series, facet) : x;
      }
      case HEATMAP -> {
        x = taken(x, own.map(FigureSpec::x).orElse(""), series, facet, rows);
        rows = taken(rows, own.map(FigureSpec::facet).orElse(""), x, series, facet);
        rows = rows.isEmpty() ? varying(x, series, facet) : rows;
        series = series.isEmpty() ? varying(x, rows, facet) : series;
        x = x.isEmpty() ? varying(series, rows, facet) : x;
      }
      case TORNADO, TIMELINE -> {}
    }
    String name =
        Stream.of(
                kind == FigureKind.LINE ? "" : kind.word(),
                metric,
                asked.per().isEmpty() ? "" : "per-" + asked.per(),
                asked.statistic(),
                asked.relative().isEmpty() ? "" : "relative-to-" + asked.relative())
            .filter(part -> !part.isEmpty())
            .collect(Collectors.joining("-"));
    return new FigureSpec(
        kind,
        asked.name().isEmpty() ? name : asked.name(),
        x,
        metric,
        series,
        facet,
        rows,
        asked.only(),
        asked.logX() == null ? own.map(FigureSpec::logX).orElse(true) : asked.logX(),
        asked.logY() == null
            ? kind == FigureKind.LINE
                && !Boolean.FALSE.equals(own.map(FigureSpec::logY).orElse(true))
            : asked.logY(),
        asked.share(),
        asked.statistic(),
        asked.per(),
        asked.relative(),
        asked.style().over(sameMetric(metric)));
  }

  private FigureStyle sameMetric(String metric) {
    return run.figures().stream()
        .filter(figure -> figure.y().equals(metric) && figure.kind() == asked.kind())
        .findFirst()
        .map(FigureSpec::style)
        .orElse(FigureStyle.DEFAULT);
  }

  private String firstMetric() {
    return run.rows().stream()
        .flatMap(row -> row.metrics().keySet().stream())
        .findFirst()
        .orElse("");
  }

  /** Returns the given axis, else the config's where it is an axis and free. */
  private String taken(String given, String otherwise, String... spoken) {
    if (!given.isEmpty()) {
      return given;
    }
    boolean free = !List.of(spoken).contains(otherwise);
    return free && run.axes().stream().anyMatch(a -> a.name().equals(otherwise)) ? otherwise : "";
  }

  private boolean varies(String axis) {
    return run.axes().stream().anyMatch(one -> one.name().equals(axis) && one.values().size() > 1);
  }

  private String varying(String... spoken) {
    return run.axes().stream()
        .filter(axis -> axis.values().size() > 1)
        .map(Axis::name)
        .filter(name -> !List.of(spoken).contains(name))
        .findFirst()
        .orElse("");
  }
}
