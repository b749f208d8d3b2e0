package dev.doorbell.experiments.config.figure;

import dev.doorbell.experiments.config.condition.PointCondition;
import dev.doorbell.experiments.config.value.RecordCopy;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A figure that a config, a paper or a command line asks for. What is empty is left out; where a
 * figure is not the config's own, that is left to the config.
 *
 * @param name of its files; empty for one made of what it shows
 * @param x axis on the abscissa, such as {@code size}; of bars, what they stand side by side for
 * @param y sampled metric that is shown, such as {@code latency}
 * @param series axis that gives one line, bar or colour each, such as {@code path}
 * @param facet axis that gives one panel each, such as {@code placement}
 * @param rows axis on the ordinate of a heat map
 * @param only the part of the run that is shown; of a tornado and a timeline, its first point is
 * @param logX whether the abscissa is logarithmic; null where it is not said
 * @param logY whether the ordinate is; null where it is not said
 * @param share by which a tornado moves a constant without an interval, such as 0.2
 * @param statistic of a point's samples that is shown; empty for the median
 * @param per metric or counter that {@code y} is divided by; empty for none
 * @param relative series that all are shown as multiples of; empty for none
 * @param style how it looks
 */
public record FigureSpec(
    FigureKind kind,
    String name,
    String x,
    String y,
    String series,
    String facet,
    String rows,
    List<PointCondition> only,
    @Nullable Boolean logX,
    @Nullable Boolean logY,
    double share,
    String statistic,
    String per,
    String relative,
    FigureStyle style) {

  /** Default share by which a tornado moves a constant. */
  public static final double SHARE = 0.2;

  public FigureSpec {
    only = List.copyOf(only);
  }

  public static FigureSpec of(FigureKind kind) {
    return new FigureSpec(
        kind,
        "",
        "",
        "",
        "",
        "",
        "",
        List.of(),
        null,
        null,
        SHARE,
        "",
        "",
        "",
        FigureStyle.DEFAULT);
  }

  public FigureSpec named(String other) {
    return RecordCopy.with(this, Map.of("name", other));
  }

  /** Returns this figure restricted to a part of its points. */
  public FigureSpec within(List<PointCondition> further) {
    return RecordCopy.with(
        this, Map.of("only", Stream.concat(only.stream(), further.stream()).toList()));
  }

  /** Returns this figure with a style that goes before its own, as far as its kind has a use. */
  public FigureSpec styled(FigureStyle first) {
    return RecordCopy.with(this, Map.of("style", first.in(kind).over(style)));
  }

  /** Returns this figure with values as multiples of one series'. */
  public FigureSpec ratio(String base) {
    return RecordCopy.with(
        this,
        Map.of(
            "name", name + "-ratio", "relative", base, "logY", true, "style", style.without("y")));
  }

  /** Returns whether an axis has a place in this figure. */
  public boolean names(String axis) {
    return List.of(x, series, facet, rows).contains(axis);
  }

  /** Returns this figure over another axis, without what its style says about the abscissa. */
  public FigureSpec over(String axis) {
    return RecordCopy.with(
        this,
        Map.of("x", axis, "facet", facet.equals(axis) ? "" : facet, "style", style.without("x")));
  }
}
