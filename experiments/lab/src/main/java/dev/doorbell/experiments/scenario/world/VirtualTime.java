package dev.doorbell.experiments.scenario.world;

import dev.doorbell.core.fabric.timed.machine.CpuPrices;
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
    return cpu(topology, topology.cpus().getFirst().finer().clock());
  }

  /** Prices of the first CPU at a clock of {@code ghz}. */
  public static ProxyPrices cpu(Topology topology, double ghz) {
    CpuPrices cpu = topology.cpus().getFirst();
    return new ProxyPrices(
        Math.round(cpu.poll()),
        Math.round(cpu.post() + cpu.finer().postCycles() / ghz),
        Math.round(cpu.finer().line()),
        Math.round(cpu.finer().completionCycles() / ghz),
        Math.round(cpu.finer().doorbellCycles() / ghz));
  }
}
