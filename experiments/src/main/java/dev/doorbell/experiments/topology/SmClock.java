package dev.doorbell.experiments.topology;

import dev.doorbell.core.fabric.timed.machine.GpuPrices;
import dev.doorbell.core.fabric.timed.machine.Prices;
import dev.doorbell.core.fabric.timed.machine.Topology;
import dev.doorbell.core.fabric.timed.machine.Topology.Constant;
import dev.doorbell.core.problem.Problem;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * A topology at another SM clock. A piece of a GPU's work takes C cycles and B nanoseconds, C / f +
 * B: cycles are what a thread spends inside of the GPU, on instructions, caches, atomics and
 * fences; nanoseconds are the ways over PCIe, the answers of memory to devices and copy engines.
 */
public final class SmClock {
  private static final double MHZ = 1e3;

  private SmClock() {}

  /**
   * The topology with all GPUs at {@code mhz}.
   *
   * @throws TopologyException when it does not say at which clock its prices are
   */
  public static Topology at(Topology base, int mhz) throws TopologyException {
    List<GpuPrices> gpus = new ArrayList<>();
    List<Constant> constants = new ArrayList<>(base.constants());
    for (int index = 0; index < base.gpus().size(); index++) {
      String key = "gpu%d.clock_ghz".formatted(index);
      double own =
          base.constants().stream()
              .filter(each -> each.key().equals(key))
              .mapToDouble(Constant::value)
              .findAny()
              .orElseThrow(() -> withoutClock(base, key));
      gpus.add(Prices.scaled(base.gpus().get(index), own * MHZ / mhz));
      constants.removeIf(each -> each.key().equals(key));
      constants.add(
          new Constant(
              key, mhz / MHZ, "ghz", Constant.Origin.ASSUMED, "what if: prices are cycles"));
    }
    return Prices.with(base, Map.of("gpus", gpus, "constants", constants));
  }

  private static TopologyException withoutClock(Topology base, String key) {
    return new TopologyException(
        List.of(
            Problem.of(
                    "DB-T017",
                    base.name(),
                    "sm_mhz needs the SM clock of the topology's prices, '%s'".formatted(key))
                .fix(
                    "say it in the topology, clock_ghz: {value: 1.98, source: ...}, or leave out"
                        + " sm_mhz")));
  }
}
