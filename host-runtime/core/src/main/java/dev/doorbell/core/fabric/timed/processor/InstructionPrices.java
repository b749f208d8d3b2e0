package dev.doorbell.core.fabric.timed.processor;

import dev.doorbell.core.fabric.timed.event.Picos;
import dev.doorbell.core.fabric.timed.machine.CpuPrices;
import dev.doorbell.core.fabric.timed.machine.GpuPrices;
import dev.doorbell.core.fabric.timed.machine.GpuRefinements;
import dev.doorbell.core.fabric.timed.machine.Prices;
import dev.doorbell.core.fabric.timed.machine.Topology;
import dev.doorbell.core.memory.Locus;
import java.util.Map;

/**
 * Costs of the instructions of a thread, in picoseconds: {@link GpuPrices} with their {@link
 * GpuRefinements}, or {@link CpuPrices}, whose components have the same names.
 *
 * @param remoteContention of a load for every load under way, in picoseconds, with fractions
 * @param shortestTurn cost of a step that took no time, so that spinning makes time pass
 */
public record InstructionPrices(
    long instruction,
    long load,
    long loadHit,
    long strongLoad,
    long store,
    long remoteStore,
    long atomic,
    long fence,
    long fenceSystem,
    long fenceFloor,
    long fenceSystemFloor,
    long fenceRemote,
    long fenceSystemRemote,
    boolean fenceAwaitsArrival,
    boolean fenceFlushes,
    boolean pollsDrift,
    long remoteLoad,
    long remoteAtomic,
    long remoteSpread,
    double remoteContention,
    int loadSector,
    int loadsInFlight,
    long loadIssue,
    long shortestTurn) {

  /** Those of threads at {@code locus}; a NIC's threads pay only for spinning. */
  static InstructionPrices of(Topology topology, Locus locus) {
    return switch (locus.part()) {
      case GPU -> of(topology.gpus().get(locus.index()));
      case CPU -> plain(topology.cpus().get(locus.index()), topology.pollsDrift());
      case NIC -> plain(Prices.of(CpuPrices.class, Map.of()), false);
    };
  }

  private static InstructionPrices of(GpuPrices prices) {
    GpuRefinements finer = prices.finer();
    return new InstructionPrices(
        Picos.of(prices.instruction()),
        Picos.of(prices.load()),
        Picos.of(prices.loadHit()),
        Picos.of(prices.strongLoad()),
        Picos.of(prices.store()),
        Picos.of(prices.remoteStore()),
        Picos.of(prices.atomic()),
        Picos.of(prices.fence()),
        Picos.of(prices.fenceSystem()),
        Picos.of(prices.fenceFloor()),
        Picos.of(finer.fenceSystemFloor()),
        Picos.of(finer.fenceRemote()),
        Picos.of(finer.fenceSystemRemote()),
        finer.fenceAwaitsArrival(),
        finer.fenceFlushes(),
        finer.pollsDrift(),
        Picos.of(finer.remoteLoad()),
        Picos.of(finer.remoteAtomic()),
        Picos.of(finer.remoteSpread()),
        finer.remoteContention() * Picos.PER_NANO,
        finer.loadSector(),
        finer.loadsInFlight(),
        Picos.of(finer.loadIssue()),
        100);
  }

  private static InstructionPrices plain(CpuPrices prices, boolean pollsDrift) {
    long load = Picos.of(prices.load());
    long store = Picos.of(prices.store());
    return new InstructionPrices(
        Picos.of(prices.instruction()),
        load,
        load,
        load,
        store,
        store,
        Picos.of(prices.atomic()),
        0,
        0,
        0,
        0,
        0,
        0,
        true,
        false,
        pollsDrift,
        0,
        0,
        0,
        0,
        GpuRefinements.LINE_BYTES,
        1,
        0,
        1000);
  }
}
