package dev.doorbell.experiments.config.schema;

import dev.doorbell.experiments.config.schema.Schema.Setting;
import dev.doorbell.experiments.config.value.Sizes;
import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;
import java.util.Map;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Values of metrics and settings as sentences have them: with their unit, in four digits. */
public final class Amounts {
  private static final Pattern UNIT = Pattern.compile("; (?:sampled|counted), (.+)$");
  private static final Map<String, String> SHORT = Map.of("million a second", "M/s");
  private static final MathContext DIGITS = new MathContext(4);

  private Amounts() {}

  /** A value of a metric, such as {@code 4.682 us} for a latency of 4682. */
  public static String metric(String metric, double value) {
    Matcher unit = UNIT.matcher(Schema.experiment().metrics().getOrDefault(metric, ""));
    return unit.find() ? amount(value, unit.group(1)) : number(value);
  }

  /** A value of a setting, such as {@code 64 KiB} for a size of 65536. */
  public static String setting(String name, double value) {
    Setting setting = Schema.experiment().settings().get(name);
    return setting == null ? number(value) : amount(value, setting.unit());
  }

  /** An operand of a condition: an amount if the setting has numbers with a unit. */
  public static String operand(String name, String operand) {
    OptionalLong number = Sizes.parse(operand);
    return number.isPresent() ? setting(name, (double) number.getAsLong()) : operand;
  }

  private static String amount(double value, String unit) {
    return switch (unit) {
      case "" -> number(value);
      case "ns" -> time(value);
      case "B" -> bytes(value);
      default -> number(value) + " " + SHORT.getOrDefault(unit, unit);
    };
  }

  private static String time(double nanos) {
    double magnitude = Math.abs(nanos);
    if (magnitude < 1e3) {
      return nanos == 0 ? "0" : number(nanos) + " ns";
    }
    return magnitude < 1e6 ? number(nanos / 1e3) + " us" : number(nanos / 1e6) + " ms";
  }

  /** Bytes that are a whole size as that, others in the unit below. */
  private static String bytes(double bytes) {
    if (bytes == 0) {
      return "0";
    }
    if (bytes == Math.rint(bytes) && bytes % 1024 == 0) {
      return Sizes.bytes((long) bytes);
    }
    double magnitude = Math.abs(bytes);
    if (magnitude < 1 << 10) {
      return number(bytes) + " B";
    }
    return magnitude < 1 << 20
        ? number(bytes / (1 << 10)) + " KiB"
        : number(bytes / (1 << 20)) + " MiB";
  }

  /** A number in four digits, never with an exponent. */
  public static String number(double value) {
    if (Double.isNaN(value) || Double.isInfinite(value)) {
      return Double.toString(value);
    }
    BigDecimal exact = BigDecimal.valueOf(value);
    BigDecimal rounded =
        Math.abs(value) < 1e4 ? exact.round(DIGITS) : exact.setScale(0, RoundingMode.HALF_EVEN);
    return rounded.signum() == 0 ? "0" : rounded.stripTrailingZeros().toPlainString();
  }
}
