package dev.doorbell.experiments.scenario.world;

import dev.doorbell.core.fabric.timed.machine.CpuPrices;
import dev.doorbell.core.fabric.timed.machine.CpuPrices.CpuRefinements;
import dev.doorbell.core.fabric.timed.machine.Network;
import dev.doorbell.core.fabric.timed.machine.NicPrices;
import dev.doorbell.core.fabric.timed.machine.Topology;
import dev.doorbell.proxy.ProxyPrices;
import dev.doorbell.softhca.device.HcaTiming;
import dev.doorbell.softhca.device.SoftHcaOptions;
import dev.doorbell.softhca.wire.InProcessWire;

/** HCAs, wires and CPUs with the times of a topology. */
public final class VirtualTime {
  private VirtualTime() {}

  /** The default options of an HCA, with the times of the first one of the topology. */
  public static SoftHcaOptions hca(Topology topology) {
    NicPrices nic = topology.nics().getFirst();
    return SoftHcaOptions.DEFAULT.withTiming(HcaTiming.of(nic));
  }

  /** A wire with the latency and the rate of the network. */
  public static InProcessWire wire(Topology topology) {
    Network network = topology.network();
    return new InProcessWire(
        Math.round(network.nanos()),
        network.bytesPerNano() * Byte.SIZE,
        network.framing().lessThanEthernet());
  }

  /** Prices of the first CPU. */
  public static ProxyPrices cpu(Topology topology) {
    CpuPrices cpu = topology.cpus().getFirst();
    CpuRefinements finer = cpu.finer();
    double ghz = finer.clock();
    return new ProxyPrices(
        Math.round(cpu.poll()),
        Math.round(cpu.post() + finer.postCycles() / ghz),
        Math.round(finer.line()),
        Math.round(finer.completionCycles() / ghz),
        Math.round(finer.doorbellCycles() / ghz + finer.doorbell()));
  }
}
