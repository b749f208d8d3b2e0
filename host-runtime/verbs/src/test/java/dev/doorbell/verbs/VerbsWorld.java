package dev.doorbell.verbs;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.doorbell.contract.HcaWorld;
import dev.doorbell.core.Probe;
import dev.doorbell.core.fabric.Access;
import dev.doorbell.core.fabric.DirectFabric;
import dev.doorbell.core.fabric.ThreadPort;
import dev.doorbell.core.hca.Hca;
import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.core.memory.FabricMemory;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.MemoryProvider;
import dev.doorbell.verbs.device.DeviceFilter;
import dev.doorbell.verbs.library.VerbsProbe;
import java.util.Set;
import java.util.function.BooleanSupplier;

/** One device of this machine, opened twice, that talks to itself. */
final class VerbsWorld implements HcaWorld {
  private static final long LIMIT_NANOS = 120_000_000_000L;
  private static final long SETTLING_NANOS = 5_000_000;
  private static final int QUIET_SWEEPS = 32;
  private static final int QUESTIONS = 4;

  private final DirectFabric fabric = new DirectFabric(AddressSpace.reserve(1L << 30), 0);
  private final Set<Feature> lacks;
  private final Hca[] hcas = new Hca[2];
  private final ThreadPort[] cpus = new ThreadPort[2];

  /** Opens one side. */
  @FunctionalInterface
  interface Opener {
    Hca open(DirectFabric fabric, Locus nic);
  }

  VerbsWorld(Set<Feature> lacks, Opener opener) {
    this.lacks = lacks;
    for (int side = 1; side >= 0; side--) {
      hcas[side] = opener.open(fabric, Locus.nic(side, 0));
      cpus[side] = fabric.attachThread(Locus.cpu(side), budget -> 0);
    }
  }

  /** The first mlx5 device of this machine, or a skipped test. */
  static VerbsWorld ofMlx5() {
    Probe probe = VerbsProbe.probeMlx5();
    assumeTrue(probe instanceof Probe.Ready, probe.describe());
    return new VerbsWorld(
        Set.of(
            Feature.PARTITIONS,
            Feature.COMPLETION_EVENTS,
            Feature.ASYNC_EVENTS,
            Feature.SHARED_RECEIVES,
            Feature.UNRELIABLE_TRANSPORTS),
        (fabric, nic) ->
            new Mlx5Hca(
                fabric, nic, DeviceFilter.ALL, -1, FabricMemory.of(fabric.memory(), nic.rank())));
  }

  @Override
  public Set<Feature> lacks() {
    return lacks;
  }

  @Override
  public Hca hca(int side) {
    return hcas[side];
  }

  @Override
  public MemoryProvider memory(int side) {
    return FabricMemory.of(fabric.memory(), side);
  }

  @Override
  public void store64(int side, long address, long value) {
    cpus[side].store64(address, value, Access.MMIO);
  }

  @Override
  @SuppressWarnings("ThreadPriorityCheck") // the device's process may need this processor
  public void work(BooleanSupplier done) {
    // The device's own threads may have only this processor.
    fabric.run(
        () -> {
          Thread.yield();
          return done.getAsBoolean();
        },
        LIMIT_NANOS);
  }

  /**
   * A served device works when its own process gets a processor. It has carried out what was posted
   * before a call by the time it has answered a few calls.
   */
  @Override
  public void settle() {
    sweep();
    for (int i = 0; i < QUESTIONS; i++) {
      for (Hca hca : hcas) {
        hca.allocateProtectionDomain().close();
      }
      sweep();
    }
  }

  private void sweep() {
    long start = System.nanoTime();
    int[] sweeps = {0};
    runUntil(() -> ++sweeps[0] > QUIET_SWEEPS && System.nanoTime() - start > SETTLING_NANOS);
  }

  @Override
  public boolean deviceMemoryIsAddressable() {
    return true;
  }

  @Override
  public void close() {
    hcas[1].close();
    hcas[0].close();
    fabric.close();
  }
}
