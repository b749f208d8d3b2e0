package dev.doorbell.experiments.results.print;

import dev.doorbell.core.Basis;
import dev.doorbell.experiments.config.value.Axis;
import dev.doorbell.experiments.config.value.Sizes;
import dev.doorbell.experiments.config.value.Value;
import dev.doorbell.experiments.stats.Interval;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Numbers, values and bases in tables for a terminal, in ASCII. */
public final class Screen {
  private static final Pattern HEAD = Pattern.compile(" *\\S+ +");

  private Screen() {}

  /** A value of an axis: bytes and times with their unit, everything else as it is. */
  public static String value(@Nullable Value value, String unit) {
    if (value == null) {
      return "-";
    }
    if (!(value instanceof Value.Whole(long number)) || unit.isEmpty()) {
      return value.text();
    }
    return unit.equals("B") ? Sizes.bytes(number) : number + " " + unit;
  }

  /** Adds a column for each axis. */
  public static <R> TableBuilder<R> axes(
      TableBuilder<R> table, List<Axis> axes, Function<R, ? extends Map<String, Value>> values) {
    for (Axis axis : axes) {
      table.column(
          axis.name(),
          axis.values().getFirst() instanceof Value.Whole,
          row -> value(values.apply(row).get(axis.name()), axis.unit()));
    }
    return table;
  }

  /** The unit in which a metric is shown. */
  public static String unit(String unit) {
    return unit.equals("ns") ? "us" : unit;
  }

  /** A value of a metric in three or four digits, times in microseconds. */
  public static String metric(double value, String unit) {
    return digits(unit.equals("ns") ? value / 1e3 : value);
  }

  /** An interval of a metric; a dash where too few samples carry none. */
  public static String interval(Optional<Interval> interval, String unit) {
    return interval
        .map(each -> "[%s, %s]".formatted(metric(each.lower(), unit), metric(each.upper(), unit)))
        .orElse("-");
  }

  /** A number in about three digits, never with an exponent. */
  public static String digits(double value) {
    double magnitude = Math.abs(value);
    int decimals = magnitude == 0 || magnitude >= 1000 ? 0 : magnitude >= 100 ? 1 : 2;
    if (magnitude > 0 && magnitude < 1) {
      decimals = (int) Math.min(9, 2 - Math.floor(Math.log10(magnitude)));
    }
    return String.format(Locale.ROOT, "%." + decimals + "f", value);
  }

  /**
   * Lines broken between words where they are longer than a terminal is wide; what is carried over
   * is indented as far as the text after the first word, at most ten columns.
   */
  public static String folded(String text, int width) {
    return text.lines()
            .map(line -> line.length() <= width ? line : fold(line, width))
            .collect(Collectors.joining("\n"))
        + (text.endsWith("\n") ? "\n" : "");
  }

  private static String fold(String line, int width) {
    Matcher head = HEAD.matcher(line);
    return folded(line, width, head.lookingAt() ? Math.min(10, head.end()) : 2);
  }

  /** A line broken between words, as above, with {@code columns} of indent from the second on. */
  public static String folded(String line, int width, int columns) {
    String indent = " ".repeat(columns < width / 2 ? columns : 10);
    StringBuilder out = new StringBuilder();
    String rest = line;
    while (rest.length() > width) {
      int at = rest.lastIndexOf(' ', width);
      if (at <= indent.length()) {
        break;
      }
      out.append(rest.substring(0, at).stripTrailing()).append('\n');
      rest = indent + rest.substring(at).strip();
    }
    return out.append(rest).toString();
  }

  /** A relative difference with its sign. */
  public static String percent(double ratio) {
    return String.format(Locale.ROOT, "%+.1f %%", ratio * 100);
  }

  /** Bytes that lie between whole units, as crossovers do. */
  public static String roughBytes(double bytes) {
    if (bytes < 1024) {
      return String.format(Locale.ROOT, "%.0f B", bytes);
    }
    double kib = bytes / 1024;
    return kib < 1024
        ? String.format(Locale.ROOT, kib < 10 ? "%.1f KiB" : "%.0f KiB", kib)
        : String.format(Locale.ROOT, kib < 10240 ? "%.1f MiB" : "%.0f MiB", kib / 1024);
  }

  /** Minutes and seconds. */
  public static String minutes(long nanos) {
    long seconds = Math.max(0, Math.round(nanos / 1e9));
    return String.format(Locale.ROOT, "%02d:%02d", seconds / 60, seconds % 60);
  }

  /** Describes the basis of the numbers. */
  public static String basis(Basis basis) {
    return switch (basis) {
      case MODELLED -> "MODELLED RESULT (virtual time) - not a hardware measurement";
      case EMULATED -> "EMULATED RESULT (wall time of the emulation) - says nothing about an HCA";
      case MEASURED -> "MEASURED RESULT (wall time on this hardware)";
    };
  }
}
