package dev.doorbell.experiments.session;

import dev.doorbell.core.fabric.timed.Constant;
import dev.doorbell.experiments.plan.ModelConstant;
import dev.doorbell.experiments.plan.ModelConstant.Origin;
import java.util.Map;

/** Constants of topologies as manifests list them. */
final class Constants {
  private static final Map<String, String> UNITS =
      Map.of("_ns", "ns", ".ns", "ns", "_bytes", "B", "_gb_s", "GB/s");

  private Constants() {}

  /** {@code constant} of the topology {@code name}. */
  static ModelConstant convert(String name, Constant constant) {
    return new ModelConstant(
        name + "." + constant.key(),
        constant.value(),
        unit(constant.key()),
        origin(constant.origin()),
        constant.source());
  }

  private static Origin origin(Constant.Origin origin) {
    return switch (origin) {
      case MEASURED_HERE -> Origin.MEASURED_HERE;
      case CITED -> Origin.CITED;
      case ASSUMED -> Origin.ASSUMED;
    };
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
