package dev.doorbell.softhca;

import dev.doorbell.contract.HcaWorld;
import dev.doorbell.core.fabric.Access;
import dev.doorbell.core.fabric.ThreadPort;
import dev.doorbell.core.hca.Hca;
import dev.doorbell.core.memory.FabricMemory;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.MemoryProvider;
import dev.doorbell.softhca.device.SoftHcaOptions;
import java.util.function.BooleanSupplier;

/** Two software HCAs on a wire that can be told to hurt packets, in stepped time. */
final class SteppedWorld implements HcaWorld {
  private static final long LIMIT_NANOS = 3_600_000_000_000L;

  final SteppedFabric fabric = new SteppedFabric(1L << 32);
  final FaultyWire wire = new FaultyWire(fabric);
  private final SoftHca[] hcas = new SoftHca[2];
  private final MemoryProvider[] memories = new MemoryProvider[2];
  private final ThreadPort cpu = fabric.attachThread(Locus.cpu(0), budget -> 0);

  SteppedWorld(SoftHcaOptions options) {
    for (int side = 0; side < 2; side++) {
      hcas[side] = new SoftHca(fabric, Locus.nic(side, 0), "soft" + side, options);
      wire.join(hcas[side]);
      memories[side] = FabricMemory.of(fabric.memory(), side);
    }
  }

  /**
   * A world whose memory is used again, not given back: of use where many queue pairs come and go.
   */
  static SteppedWorld recycling(SoftHcaOptions options) {
    SteppedWorld world = new SteppedWorld(options);
    for (int side = 0; side < 2; side++) {
      world.memories[side] = new RecycledMemory(world.memories[side]);
    }
    return world;
  }

  /** Path MTU in bytes. */
  static SteppedWorld withMtu(int mtu) {
    return new SteppedWorld(
        SoftHcaOptions.DEFAULT.withEngine(new SoftHcaOptions.Engine(mtu, 64, 32, 1024)));
  }

  @Override
  public Hca hca(int side) {
    return hcas[side];
  }

  SoftHca soft(int side) {
    return hcas[side];
  }

  @Override
  public MemoryProvider memory(int side) {
    return memories[side];
  }

  @Override
  public void store64(int side, long address, long value) {
    cpu.store64(address, value, Access.MMIO);
  }

  @Override
  public void work(BooleanSupplier done) {
    fabric.run(done, LIMIT_NANOS);
  }

  /** Lets {@code nanos} of virtual time pass. */
  void run(long nanos) {
    fabric.run(() -> false, nanos);
  }

  @Override
  public void settle() {
    run(0);
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
