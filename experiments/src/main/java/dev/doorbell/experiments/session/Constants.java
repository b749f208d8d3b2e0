package dev.doorbell.experiments.session;

import dev.doorbell.core.fabric.timed.Constant;
import dev.doorbell.experiments.plan.ModelConstant;
import dev.doorbell.experiments.plan.ModelConstant.Origin;
import java.util.Map;

/** Constants of topologies as manifests list them. */
final class Constants {
  private static final Map<String, Origin> ORIGINS =
      Map.of(
          "measured here", Origin.MEASURED_HERE,
          "cited", Origin.CITED,
          "assumed", Origin.ASSUMED);
  private static final Map<String, String> UNITS =
      Map.of("_ns", "ns", ".ns", "ns", "_bytes", "B", "_gb_s", "GB/s");

  private Constants() {}

  /** {@code constant} of the topology {@code name}. */
  static ModelConstant convert(String name, Constant constant) {
    String source = constant.source();
    int colon = source.indexOf(':');
    String kind = colon < 0 ? source : source.substring(0, colon);
    String text = colon < 0 ? "" : source.substring(colon + 1).strip();
    return new ModelConstant(
        name + "." + constant.key(),
        constant.value(),
        unit(constant.key()),
        ORIGINS.getOrDefault(kind, Origin.ASSUMED),
        text);
  }

  private static String unit(String key) {
    for (Map.Entry<String, String> unit : UNITS.entrySet()) {
      if (key.endsWith(unit.getKey())) {
        return unit.getValue();
      }
    }
    return "";
  }
}
