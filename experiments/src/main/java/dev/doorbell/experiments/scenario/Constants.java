package dev.doorbell.experiments.scenario;

import dev.doorbell.core.fabric.timed.machine.Topology.Constant;
import dev.doorbell.experiments.plan.ModelConstant;
import dev.doorbell.experiments.plan.ModelConstant.Origin;

/** Constants of topologies as manifests list them. */
final class Constants {
  private Constants() {}

  /** {@code constant} of the topology {@code name}. */
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
