package dev.doorbell.experiments.topology;

import dev.doorbell.core.fabric.timed.machine.Constant;
import dev.doorbell.core.fabric.timed.machine.GpuPrices;
import dev.doorbell.core.fabric.timed.machine.GpuRefinements;
import dev.doorbell.core.fabric.timed.machine.Topology;
import dev.doorbell.core.problem.Problem;
import java.util.ArrayList;
import java.util.List;

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
      gpus.add(scaled(base.gpus().get(index), own * MHZ / mhz));
      constants.removeIf(each -> each.key().equals(key));
      constants.add(
          new Constant(
              key, mhz / MHZ, "ghz", Constant.Origin.ASSUMED, "what if: prices are cycles"));
    }
    return new Topology(
        base.name(),
        base.description(),
        gpus,
        base.cpus(),
        base.nics(),
        base.links(),
        base.paths(),
        base.network(),
        base.nvlink(),
        constants);
  }

  private static TopologyException withoutClock(Topology base, String key) {
    return new TopologyException(
        List.of(
            Problem.of(
                    "DB-T017",
                    base.name(),
                    "sm_mhz needs the SM clock of the topology's prices, '%s'".formatted(key))
                .fix(
                    "say it in the topology, clock_ghz: {value: 1.98, source: ...}, or leave out sm_mhz")));
  }

  private static GpuPrices scaled(GpuPrices gpu, double by) {
    GpuRefinements finer = gpu.finer();
    return new GpuPrices(
        gpu.instruction() * by,
        gpu.load() * by,
        gpu.loadHit() * by,
        gpu.strongLoad() * by,
        gpu.store() * by,
        gpu.remoteStore() * by,
        gpu.atomic() * by,
        gpu.fence() * by,
        gpu.fenceSystem() * by,
        gpu.fenceFloor() * by,
        gpu.memoryService(),
        gpu.storeGranule(),
        gpu.combineWindow(),
        gpu.completionBytes(),
        gpu.copyEngineStart(),
        gpu.copyEngineRate(),
        new GpuRefinements(
            finer.fenceSystemFloor() * by,
            finer.fenceRemote() * by,
            finer.fenceSystemRemote() * by,
            finer.fenceAwaitsArrival(),
            finer.fenceFlushes(),
            finer.pollsDrift(),
            finer.remoteLoad(),
            finer.remoteAtomic(),
            finer.remoteSpread() * by,
            finer.remoteContention(),
            finer.loadGranule(),
            finer.blockStoreRate() / by,
            finer.loadRate(),
            finer.storeRate(),
            finer.loadSector(),
            finer.loadsInFlight(),
            finer.loadIssue() * by,
            finer.latencies().times(by)));
  }
}
