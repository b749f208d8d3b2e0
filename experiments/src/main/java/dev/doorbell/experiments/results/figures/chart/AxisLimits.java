package dev.doorbell.experiments.results.figures.chart;

import dev.doorbell.experiments.results.figures.drawing.PlotAxis;
import dev.doorbell.experiments.results.figures.layout.AxisBuilder;
import java.util.List;
import java.util.OptionalDouble;

/**
 * What a figure's description says about its axes, in their units.
 *
 * @param xLow end of the abscissa; empty for the data's, as with the others
 * @param notes texts at places
 */
public record AxisLimits(
    OptionalDouble xLow,
    OptionalDouble xHigh,
    OptionalDouble yLow,
    OptionalDouble yHigh,
    List<Note> notes) {

  /** Nothing said. */
  public static final AxisLimits NONE =
      new AxisLimits(
          OptionalDouble.empty(),
          OptionalDouble.empty(),
          OptionalDouble.empty(),
          OptionalDouble.empty(),
          List.of());

  /** A text at a place, or at a line across the panel where one coordinate is not there. */
  public record Note(OptionalDouble x, OptionalDouble y, String text) {}

  public AxisLimits {
    notes = List.copyOf(notes);
  }

  /**
   * The abscissa.
   *
   * @param usual the axis of the data, or of the ends as far as they are given
   * @param steps how many ticks there may be on a linear one
   */
  PlotAxis horizontal(PlotAxis usual, String unit, int steps) {
    return within(usual, xLow, xHigh, unit, steps);
  }

  /** The ordinate, as {@link #horizontal}. */
  PlotAxis vertical(PlotAxis usual, String unit, int steps) {
    return within(usual, yLow, yHigh, unit, steps);
  }

  private static PlotAxis within(
      PlotAxis usual, OptionalDouble low, OptionalDouble high, String unit, int steps) {
    return low.isEmpty() && high.isEmpty()
        ? usual
        : AxisBuilder.between(
            usual, unit, low.orElse(usual.scale().low()), high.orElse(usual.scale().high()), steps);
  }
}
