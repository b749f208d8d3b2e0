package dev.doorbell.experiments.workbench.programs;

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
 * Programs in the virtual time of a machine. The HCAs fill its ranks one after the other, and so do
 * the GPUs of a program, from the rank of the first HCA that it opens.
 */
public final class TimedPrograms implements ServedWorld {
  private static final long SEED = 1;

  private final Topology machine;
  private final int ranks;

  /**
   * @param gpus of each program
   */
  public TimedPrograms(Topology machine, int gpus) {
    this.machine = machine;
    this.ranks = Math.ceilDiv(gpus, machine.gpus().size());
  }

  @Override
  public Fabric create(AddressSpace memory) {
    return new TimedFabric(machine, memory, SEED);
  }

  @Override
  public Locus gpu(int program, int index) {
    int most = machine.gpus().size();
    return Locus.gpu(program * ranks + index / most, index % most);
  }

  @Override
  public boolean arePeers(Locus one, Locus other) {
    return machine.joins(one, other);
  }

  @Override
  public int program(int hca) {
    return nic(hca).rank() / ranks;
  }

  @Override
  public Locus nic(int number) {
    int most = machine.nics().size();
    return Locus.nic(number / most, number % most);
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
