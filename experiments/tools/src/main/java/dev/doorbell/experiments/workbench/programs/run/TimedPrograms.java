package dev.doorbell.experiments.workbench.programs.run;

import dev.doorbell.core.fabric.Fabric;
import dev.doorbell.core.fabric.timed.TimedFabric;
import dev.doorbell.core.fabric.timed.machine.Topology;
import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.experiments.scenario.world.VirtualTime;
import dev.doorbell.interop.shim.client.ServedWorld;
import dev.doorbell.proxy.ProxyPrices;
import dev.doorbell.softhca.device.SoftHcaOptions;
import dev.doorbell.softhca.wire.InProcessWire;

/**
 * Programs in the virtual time of a machine: the program with HCA {@code mlx5_N} is rank N of it.
 */
final class TimedPrograms implements ServedWorld {
  private static final long SEED = 1;

  private final Topology machine;

  TimedPrograms(Topology machine) {
    this.machine = machine;
  }

  @Override
  public Fabric create(AddressSpace memory) {
    return new TimedFabric(machine, memory, SEED);
  }

  @Override
  public Locus gpu(int program, int index) {
    return Locus.gpu(program, index);
  }

  @Override
  public Locus nic(int number) {
    return Locus.nic(number, 0);
  }

  @Override
  public InProcessWire wire() {
    return VirtualTime.wire(machine);
  }

  @Override
  public long postNanos() {
    ProxyPrices prices = VirtualTime.cpu(machine);
    return prices.postNanos() + prices.ringNanos();
  }

  @Override
  public SoftHcaOptions hca(int number, SoftHcaOptions usual) {
    return usual.withTiming(VirtualTime.hca(machine).timing());
  }
}
