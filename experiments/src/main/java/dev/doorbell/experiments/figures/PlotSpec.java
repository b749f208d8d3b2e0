package dev.doorbell.experiments.figures;

import dev.doorbell.experiments.config.Axis;
import dev.doorbell.experiments.config.FigureSpec;
import dev.doorbell.experiments.config.Value;
import dev.doorbell.experiments.run.RunData;
import java.util.List;

/**
 * A figure that somebody asks for.
 *
 * @param name of its files; empty for one made of what it shows
 * @param x axis on the abscissa; empty for the config's own
 * @param metric that is shown; empty for the config's own
 * @param series axis that gives one line, bar or colour each; empty for the config's own
 * @param rows axis that gives one panel each, or the ordinate of a heat map; empty for the config's
 *     own
 */
public record PlotSpec(
    PlotKind kind, String name, String x, String metric, String series, String rows) {

  /** Everything as the config has it. */
  public static PlotSpec of(PlotKind kind) {
    return new PlotSpec(kind, "", "", "", "", "");
  }

  /** Whether it leaves all to the config. */
  boolean open() {
    return name.isEmpty() && x.isEmpty() && metric.isEmpty() && series.isEmpty() && rows.isEmpty();
  }

  /**
   * The same with what was left open taken from the config's first figure, else from the axes that
   * vary.
   */
  PlotSpec resolved(RunData run) throws Unplottable {
    String own =
        run.rows().stream().flatMap(row -> row.metrics().keySet().stream()).findFirst().orElse("");
    FigureSpec first =
        run.figures().stream()
            .filter(figure -> metric.isEmpty() || figure.y().equals(metric))
            .findFirst()
            .orElseGet(
                () ->
                    run.figures().isEmpty()
                        ? new FigureSpec("", "", own, "", "", true, true)
                        : run.figures().getFirst());
    String shown = metric.isEmpty() ? first.y() : metric;
    if (run.rows().stream().noneMatch(row -> row.metrics().containsKey(shown))) {
      throw Unplottable.metric(run, shown);
    }
    String line = axis(run, series, first.series());
    String across = axis(run, x, first.x());
    String down = axis(run, rows, first.facet());
    String file = name.isEmpty() ? kind == PlotKind.LINE ? shown : kind.word() + "-" + shown : name;
    return new PlotSpec(kind, file, across, shown, line, down);
  }

  private static String axis(RunData run, String asked, String own) throws Unplottable {
    String name = asked.isEmpty() ? own : asked;
    List<String> names = run.axes().stream().map(Axis::name).toList();
    if (!asked.isEmpty() && !names.contains(asked)) {
      throw Unplottable.axis(run, asked, names);
    }
    return names.contains(name) ? name : "";
  }

  /** Whether an axis holds numbers. */
  static boolean numeric(Axis axis) {
    return axis.values().stream()
        .allMatch(value -> value instanceof Value.Whole || value instanceof Value.Real);
  }
}
