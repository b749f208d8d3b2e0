package dev.doorbell.experiments.results.figures;

import dev.doorbell.experiments.config.figure.FigureSpec;
import dev.doorbell.experiments.config.figure.FigureStyle;
import dev.doorbell.experiments.config.figure.FigureStyle.Amount;
import dev.doorbell.experiments.results.figures.chart.AxisLimits;
import dev.doorbell.experiments.results.figures.chart.LineFigure.Quantified;
import dev.doorbell.experiments.results.print.Units;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import org.jspecify.annotations.Nullable;

/**
 * From the unit of a run's values to the one along an axis.
 *
 * @param from the run's
 * @param to the unit of the axis; empty where the prefix of the unit changes along the axis
 * @param factor values of the axis over those of the run
 */
record UnitConversion(String from, String to, double factor) {

  /** Units of one quantity, each with how many of them are one of the first. */
  private static final List<Map<String, Double>> QUANTITIES =
      List.of(
          units("ns", 1, "us", 1e-3, "ms", 1e-6, "s", 1e-9),
          units("B", 1, "KiB", 0x1p-10, "MiB", 0x1p-20, "GiB", 0x1p-30),
          units("GB/s", 1, "Gb/s", 8, "MB/s", 1e3, "GiB/s", 1e9 / 0x1p30),
          units("M/s", 1, "k/s", 1e3, "/s", 1e6, "G/s", 1e-3));

  private static Map<String, Double> units(Object... named) {
    Map<String, Double> units = new LinkedHashMap<>();
    for (int i = 0; i < named.length; i += 2) {
      units.put((String) named[i], ((Number) named[i + 1]).doubleValue());
    }
    return units;
  }

  static UnitConversion of(String run, String key, String from, String to) throws Unplottable {
    if (to.isEmpty()) {
      return new UnitConversion(from, "", 1);
    }
    for (Map<String, Double> quantity : QUANTITIES) {
      Double first = quantity.get(from);
      if (first != null) {
        Double second = quantity.get(to);
        if (second != null) {
          return new UnitConversion(from, to, second / first);
        }
        throw Unplottable.because(
            run,
            "%s %s: the values are in %s".formatted(key, to, from),
            "one of " + String.join(", ", quantity.keySet()));
      }
    }
    throw Unplottable.because(
        run,
        "%s %s: the values %s"
            .formatted(key, to, from.isEmpty() ? "have no unit" : "are in '" + from + "'"),
        "leave %s out".formatted(key));
  }

  /** An axis of these values; one that is asked for has its unit in the title. */
  Quantified quantified(String title, boolean log) {
    return to.isEmpty()
        ? new Quantified(title, from, log)
        : new Quantified("%s (%s)".formatted(title, to.replace("us", "µs")), "", log);
  }

  /** An amount along the axis: bare numbers are in its unit, others in that of the amount. */
  private double place(Amount amount) {
    return amount.unit().isEmpty() ? amount.value() : amount.value() * factor;
  }

  /** Limits of both axes in their units, from a figure's description. */
  static AxisLimits limits(String run, FigureSpec spec, UnitConversion x, UnitConversion y)
      throws Unplottable {
    FigureStyle style = spec.style();
    AxisLimits limits =
        new AxisLimits(
            x.end(style.xRange().low()),
            x.end(style.xRange().high()),
            y.end(style.yRange().low()),
            y.end(style.yRange().high()),
            style.notes().stream()
                .map(note -> new AxisLimits.Note(x.end(note.x()), y.end(note.y()), note.text()))
                .toList());
    ordered(run, "xrange", "logx", spec.logX(), limits.xLow(), limits.xHigh());
    ordered(run, "yrange", "logy", spec.logY(), limits.yLow(), limits.yHigh());
    return limits;
  }

  private OptionalDouble end(Optional<Amount> amount) {
    return amount.isPresent() ? OptionalDouble.of(place(amount.get())) : OptionalDouble.empty();
  }

  private static void ordered(
      String run,
      String key,
      String scale,
      @Nullable Boolean log,
      OptionalDouble low,
      OptionalDouble high)
      throws Unplottable {
    if (Boolean.TRUE.equals(log) && Math.min(low.orElse(1), high.orElse(1)) <= 0) {
      throw Unplottable.because(
          run,
          "%s reaches 0, which a logarithmic axis cannot show".formatted(key),
          "begin above 0, or draw with %s: false".formatted(scale));
    }
    if (low.isPresent() && high.isPresent() && low.getAsDouble() >= high.getAsDouble()) {
      throw Unplottable.because(
          run,
          "%s begins at %s and ends at %s"
              .formatted(key, Units.plain(low.getAsDouble()), Units.plain(high.getAsDouble())),
          "give the lower end first, such as %s: 0..40".formatted(key));
    }
  }
}
