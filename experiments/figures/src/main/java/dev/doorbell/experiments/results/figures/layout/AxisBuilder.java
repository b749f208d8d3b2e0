package dev.doorbell.experiments.results.figures.layout;

import dev.doorbell.experiments.results.figures.drawing.PlotAxis;
import dev.doorbell.experiments.results.figures.drawing.PlotAxis.Tick;
import dev.doorbell.experiments.results.figures.drawing.Scale;
import dev.doorbell.experiments.results.print.Units;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableSet;
import java.util.TreeSet;
import java.util.function.DoubleUnaryOperator;
import java.util.function.IntToDoubleFunction;
import java.util.stream.LongStream;

/** Chooses ranges and ticks. */
public final class AxisBuilder {

  private static final double LOG2 = Math.log(2);
  private static final int NARROW_STEPS = 5;

  private AxisBuilder() {}

  /**
   * Returns true if all values are powers of two, 1 included, so that an axis may be ruled by them.
   */
  public static boolean powersOfTwo(Iterable<Double> values) {
    for (double value : values) {
      if (!(value >= 1) || value != Math.rint(value) || Long.bitCount((long) value) != 1) {
        return false;
      }
    }
    return true;
  }

  /**
   * A logarithmic axis ruled by powers of two: a mark at each, labels as dense as there is room
   * for, both ends labelled.
   *
   * @param low least value, at least 1; rounded down to a power of two
   * @param high greatest value; rounded up
   * @param labels how many labels fit along it
   */
  public static PlotAxis binary(String title, String unit, double low, double high, int labels) {
    int first = Math.getExponent(low);
    int last = (int) Math.ceil(Math.log(high) / LOG2 - 1e-9);
    NavigableSet<Integer> labelled = spread(first, last, labels);
    List<Tick> ticks = new ArrayList<>();
    for (int k = first; k <= last; k++) {
      double value = Math.scalb(1.0, k);
      boolean major = labelled.contains(k);
      ticks.add(new Tick(value, major ? Units.quantity(value, unit) : "", major));
    }
    double pad = Math.sqrt(2);
    return new PlotAxis(
        title, new Scale.Log(Math.scalb(1.0, first) / pad, Math.scalb(1.0, last) * pad), ticks);
  }

  /**
   * Whole numbers from {@code first} to {@code last}, both included, in even steps but for one
   * longer or shorter.
   */
  private static NavigableSet<Integer> spread(int first, int last, int room) {
    int step = 1;
    while ((last - first) / step + 1 > Math.max(2, room)) {
      step++;
    }
    NavigableSet<Integer> chosen = new TreeSet<>();
    for (int k = last; k >= first; k -= step) {
      chosen.add(k);
    }
    if (chosen.size() > 1 && chosen.first() - first > 0) {
      chosen.pollFirst(); // too near to the first, which matters more
    }
    chosen.add(first);
    return chosen;
  }

  /**
   * An axis ruled by tens: {@link #decades} or {@link #linear}.
   *
   * @param labels how many labels fit along a linear one
   */
  public static PlotAxis axis(
      String title, String unit, boolean log, double low, double high, int labels) {
    return log ? decades(title, unit, low, high) : linear(title, unit, low, high, labels);
  }

  /**
   * A logarithmic axis ruled by powers of ten, begun and ended at 1, 2 or 5 of one. Within two
   * decades and a half the 2s and 5s are labelled too. Values that lie within a factor of three are
   * ruled in even steps.
   *
   * @param low least value shown, positive
   * @param high greatest value shown
   */
  public static PlotAxis decades(String title, String unit, double low, double high) {
    if (!(low > 0) || !Double.isFinite(high)) {
      throw new IllegalArgumentException(
          "a logarithmic axis cannot reach from " + low + " to " + high);
    }
    if (high / low < 3) {
      return narrow(title, unit, low, high);
    }
    double start = roundDown(low / 1.04);
    double end = roundUp(high * 1.04);
    boolean dense = Math.log10(end / start) <= 2.5;
    List<Tick> ticks = new ArrayList<>();
    int decade = (int) Math.floor(Math.log10(start) + 1e-9);
    for (double power = pow10(decade); power <= end * (1 + 1e-9); power = pow10(++decade)) {
      for (int digit = 1; digit <= 9; digit++) {
        double value = digit * power;
        if (value < start * (1 - 1e-9) || value > end * (1 + 1e-9)) {
          continue;
        }
        boolean major = digit == 1 || (dense && (digit == 2 || digit == 5));
        ticks.add(new Tick(value, major ? label(value, unit) : "", major));
      }
    }
    return new PlotAxis(titled(title, unit), new Scale.Log(start, end), ticks);
  }

  /** A logarithmic axis in even steps, a fifth of its values long or longer. */
  private static PlotAxis narrow(String title, String unit, double low, double high) {
    double middle = Math.sqrt(low * high);
    double least = Math.min(low / 1.01, middle / 1.1);
    double greatest = Math.max(high * 1.01, middle * 1.1);
    double step = roundUp((greatest - least) / NARROW_STEPS);
    long first = (long) Math.floor(least / step + 1e-9);
    long last = (long) Math.ceil(greatest / step - 1e-9);
    return new PlotAxis(
        titled(title, unit),
        new Scale.Log(first * step, last * step),
        ticks(step, first, last, unit));
  }

  private static List<Tick> ticks(double step, long first, long last, String unit) {
    return LongStream.rangeClosed(first, last)
        .mapToObj(k -> new Tick(k * step, label(k * step, unit), true))
        .toList();
  }

  /**
   * A linear axis from zero, or from below the least value where that is negative, in steps of 1, 2
   * or 5, of bytes in powers of two. Where there is but one value it reaches to zero, and to 1
   * where that value is zero.
   *
   * @param steps how many there may be from the least value to the greatest
   */
  public static PlotAxis linear(String title, String unit, double low, double high, int steps) {
    double least = Math.min(0, low);
    double greatest = high > least ? high : least < 0 ? 0 : 1;
    double room = (greatest - least) / Math.max(1, steps);
    double step = unit.equals("B") && room > 1 ? powerOfTwo(room) : roundUp(room);
    long first = (long) Math.floor(least / step + 1e-9);
    long last = (long) Math.ceil(greatest / step - 1e-9);
    return new PlotAxis(
        titled(title, unit),
        new Scale.Linear(first * step, last * step),
        ticks(step, first, last, unit));
  }

  /**
   * An axis from one value to another and no further, ruled as another axis of that kind would be.
   *
   * @param like the axis that would be drawn for values from {@code low} to {@code high}
   * @param steps how many ticks there may be on a linear one
   */
  public static PlotAxis between(PlotAxis like, String unit, double low, double high, int steps) {
    List<Tick> ticks = like.ticks();
    Scale scale;
    if (like.scale() instanceof Scale.Log) {
      scale = new Scale.Log(low, high);
    } else {
      scale = new Scale.Linear(low, high);
      double room = (high - low) / Math.max(1, steps);
      double step = unit.equals("B") && room > 1 ? powerOfTwo(room) : roundUp(room);
      ticks = new ArrayList<>();
      for (long k = (long) Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) {
        ticks.add(new Tick(k * step, label(k * step, unit), true));
      }
    }
    double slack = 1e-9 * (high - low);
    return new PlotAxis(
        like.title(),
        scale,
        ticks.stream()
            .filter(tick -> tick.value() >= low - slack && tick.value() <= high + slack)
            .toList());
  }

  /** A horizontal axis of words, left to right, one place of width 1 for each. */
  public static PlotAxis words(String title, List<String> words) {
    return words(title, words, i -> i + 0.5);
  }

  /** A vertical axis of words, top to bottom, one place of height 1 for each. */
  public static PlotAxis rows(String title, List<String> words) {
    return words(title, words, i -> words.size() - i - 0.5);
  }

  private static PlotAxis words(String title, List<String> words, IntToDoubleFunction place) {
    List<Tick> ticks = new ArrayList<>();
    for (int i = 0; i < words.size(); i++) {
      ticks.add(new Tick(place.applyAsDouble(i), words.get(i), false));
    }
    return new PlotAxis(title, new Scale.Linear(0, Math.max(1, words.size())), ticks);
  }

  private static String label(double value, String unit) {
    return scaled(unit) ? Units.quantity(value, unit) : Units.digits(value, 3);
  }

  private static String titled(String title, String unit) {
    return scaled(unit) || unit.isEmpty() ? title : title + " (" + unit + ")";
  }

  /** Units whose ticks change prefix along the axis and therefore carry it. */
  private static boolean scaled(String unit) {
    return unit.equals("ns") || unit.equals("B");
  }

  /** The least power of two that is no less: bytes are counted in those. */
  private static double powerOfTwo(double value) {
    return Math.scalb(1.0, (int) Math.ceil(Math.log(value) / LOG2 - 1e-9));
  }

  private static double roundDown(double value) {
    return rounded(value, v -> v >= 5 ? 5 : v >= 2 ? 2 : 1);
  }

  private static double roundUp(double value) {
    return rounded(value, v -> v <= 1 ? 1 : v <= 2 ? 2 : v <= 5 ? 5 : 10);
  }

  private static double rounded(double value, DoubleUnaryOperator leading) {
    int decade = (int) Math.floor(Math.log10(value) + 1e-12);
    double power = pow10(decade);
    double ratio = value / power;
    double snapped = Math.abs(ratio - Math.rint(ratio)) < 1e-9 ? Math.rint(ratio) : ratio;
    return leading.applyAsDouble(snapped) * power;
  }

  /** Correctly rounded, which Math.pow(10, -2) need not be. */
  private static double pow10(int exponent) {
    return Double.parseDouble("1e" + exponent);
  }
}
