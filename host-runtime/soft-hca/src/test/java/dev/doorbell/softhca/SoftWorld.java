package dev.doorbell.softhca;

import dev.doorbell.core.agent.Agent;
import dev.doorbell.core.fabric.Access;
import dev.doorbell.core.fabric.Fabric;
import dev.doorbell.core.fabric.RunOutcome;
import dev.doorbell.core.fabric.ThreadPort;
import dev.doorbell.core.hca.Hca;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.MemoryProvider;
import java.util.function.BooleanSupplier;

/** Two software HCAs of two ranks on one wire. */
public final class SoftWorld implements HcaWorld {
  private static final long PATIENCE_NANOS = 10_000_000_000L;
  private static final int QUIET_SWEEPS = 8;

  public final Fabric fabric;
  private final SoftHca[] hcas = new SoftHca[2];
  private final ThreadPort[] cpus = new ThreadPort[2];
  private int countdown;

  public SoftWorld(Fabric fabric, SoftHcaOptions options, InProcessWire wire) {
    this.fabric = fabric;
    for (int side = 0; side < 2; side++) {
      hcas[side] = new SoftHca(fabric, Locus.nic(side, 0), "soft" + side, options);
      wire.join(hcas[side]);
      Agent idle = budget -> 0;
      cpus[side] = fabric.attachThread(Locus.cpu(side), idle);
    }
  }

  @Override
  public Hca hca(int side) {
    return hcas[side];
  }

  public SoftHca soft(int side) {
    return hcas[side];
  }

  public ThreadPort cpu(int side) {
    return cpus[side];
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
  public boolean runUntil(BooleanSupplier done) {
    return fabric.run(done, PATIENCE_NANOS) == RunOutcome.DONE;
  }

  @Override
  public void settle() {
    countdown = QUIET_SWEEPS;
    fabric.run(() -> countdown-- == 0, PATIENCE_NANOS);
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
