package dev.doorbell.experiments.scenario;

import dev.doorbell.core.fabric.timed.machine.Topology;
import dev.doorbell.core.fabric.timed.machine.Topology.Constant;
import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.experiments.plan.Influence;
import dev.doorbell.experiments.plan.ModelConstant;
import dev.doorbell.experiments.plan.ModelConstant.Origin;
import dev.doorbell.experiments.topology.TopologyFile;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Constants of topologies, as manifests list them; changed one at a time, what they do to a metric.
 */
final class Sensitivity {
  /** Pattern of a calibrated median with its interval in the source of a constant. */
  private static final Pattern MEASURED =
      Pattern.compile("median ([0-9.]+) \\[([0-9.]+), ([0-9.]+)]");

  private Sensitivity() {}

  private record Range(double low, double high, String why) {}

  static List<Influence> of(
      String topology, double share, Function<Topology, Optional<Double>> metric) {
    List<Influence> influences = new ArrayList<>();
    try {
      Topology given = TopologyFile.load(topology);
      if (metric.apply(given).isEmpty()) {
        return List.of();
      }
      for (Constant constant : given.constants()) {
        ModelConstant converted = convert(given.name(), constant);
        Range range = range(converted, share);
        if (range == null) {
          continue;
        }
        Optional<Double> low = at(topology, constant.key(), range.low, metric);
        Optional<Double> high = at(topology, constant.key(), range.high, metric);
        if (low.isPresent() && high.isPresent()) {
          influences.add(
              new Influence(converted, range.low, range.high, low.get(), high.get(), range.why));
        }
      }
      return influences;
    } catch (ConfigException e) {
      return List.of();
    }
  }

  private static Optional<Double> at(
      String topology, String key, double value, Function<Topology, Optional<Double>> metric) {
    try {
      return metric.apply(TopologyFile.load(topology, Map.of(key, value)));
    } catch (ConfigException _) {
      return Optional.empty();
    }
  }

  /**
   * A constant of 0 is the absence of something, and a flag is no quantity: neither has a range.
   */
  private static @Nullable Range range(ModelConstant constant, double share) {
    double value = constant.value();
    boolean quantity = !constant.unit().isEmpty() || whole(constant);
    if (value == 0 || !quantity) {
      return constant.name().endsWith("efficiency")
          ? new Range(value * (1 - share), Math.min(1, value * (1 + share)), "±" + percent(share))
          : null;
    }
    Matcher measured = MEASURED.matcher(constant.source());
    if (measured.find()) {
      double median = Double.parseDouble(measured.group(1));
      double low = value + Double.parseDouble(measured.group(2)) - median;
      double high = value + Double.parseDouble(measured.group(3)) - median;
      if (low < high) {
        return new Range(low, high, "95 % interval");
      }
    }
    if (bytes(constant) && Long.bitCount((long) value) == 1) {
      return new Range(value / 2, value * 2, "half and double");
    }
    if (bytes(constant) || whole(constant)) {
      return new Range(
          Math.rint(value * (1 - share)), Math.rint(value * (1 + share)), "±" + percent(share));
    }
    return new Range(value * (1 - share), value * (1 + share), "±" + percent(share));
  }

  private static boolean bytes(ModelConstant constant) {
    return constant.unit().equals("bytes");
  }

  private static boolean whole(ModelConstant constant) {
    return constant.name().endsWith("read_tags");
  }

  private static String percent(double share) {
    return Math.round(100 * share) + " %";
  }

  static ModelConstant convert(String name, Constant constant) {
    return new ModelConstant(
        name + "." + constant.key(),
        constant.value(),
        unit(constant.unit()),
        switch (constant.origin()) {
          case MEASURED_HERE -> Origin.MEASURED_HERE;
          case FITTED -> Origin.FITTED;
          case CITED -> Origin.CITED;
          case ASSUMED -> Origin.ASSUMED;
        },
        constant.source());
  }

  /** Topology files have units in the names of keys. */
  private static String unit(String ofKey) {
    return switch (ofKey) {
      case "gb_s" -> "GB/s";
      case "bytes" -> "B";
      case "ghz" -> "GHz";
      default -> ofKey;
    };
  }
}
