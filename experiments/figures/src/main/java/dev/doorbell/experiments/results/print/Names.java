package dev.doorbell.experiments.results.print;

import dev.doorbell.core.Basis;
import dev.doorbell.experiments.config.value.Axis;
import dev.doorbell.experiments.config.value.Value;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Names of axes, metrics, values and bases in figures and tables. */
public final class Names {
  /** A cell without a value. */
  public static final String NONE = "–";

  /** Axes whose values cannot be mistaken for those of another axis. */
  private static final Set<String> EVIDENT = Set.of("path", "kernel", "placement", "size");

  private Names() {}

  /** The name of an axis or metric in print: {@code size} is a message's. */
  public static String title(String name) {
    return switch (name) {
      case "size" -> "message size";
      case "rtt" -> "network round trip";
      default -> name.replace('_', ' ').replace('.', ' ');
    };
  }

  /** A value with its unit, times scaled. */
  public static String value(Axis axis, Value value) {
    return value instanceof Value.Whole(long whole) && axis.unit().equals("ns")
        ? Units.time((double) whole)
        : cell(axis, value);
  }

  /** A value with its unit; {@link #NONE} where there is none. */
  public static String cell(Axis axis, @Nullable Value value) {
    return switch (value) {
      case null -> NONE;
      case Value.Whole(long whole) when axis.unit().equals("B") -> Units.exactBytes(whole);
      default -> axis.unit().isEmpty() ? value.text() : value.text() + " " + axis.unit();
    };
  }

  /** A value that stands alone, in a legend or a title: with its axis, unless it is a name. */
  public static String alone(Axis axis, Value value) {
    return EVIDENT.contains(axis.name())
        ? value(axis, value)
        : title(axis.name()) + " " + value(axis, value);
  }

  /** Every value of an axis, as it stands alone. */
  public static List<String> alone(Axis axis) {
    return axis.values().stream().map(value -> alone(axis, value)).toList();
  }

  /** The basis word and its meaning, for the strip under a figure and the line under a table. */
  public static String basis(Basis basis) {
    return switch (basis) {
      case MEASURED -> "measured (wall time on the hardware)";
      case EMULATED -> "emulated (wall time of the emulation)";
      case MODELLED -> "modelled (virtual time)";
    };
  }

  /** Eight digits of a config's hash, as in the name of a run. */
  public static String shortened(String hash) {
    return hash.substring(0, Math.min(8, hash.length()));
  }
}
