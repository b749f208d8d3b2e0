package dev.doorbell.softhca;

import dev.doorbell.contract.FabricWorld;
import dev.doorbell.core.fabric.Fabric;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.softhca.device.SoftHcaOptions;
import dev.doorbell.softhca.wire.InProcessWire;
import java.util.function.ObjIntConsumer;

/** Two software HCAs of two ranks on one wire. */
public final class SoftWorld extends FabricWorld {
  private final SoftHca[] hcas;

  public SoftWorld(Fabric fabric, SoftHcaOptions options, InProcessWire wire) {
    this(fabric, options, (hca, side) -> wire.join(hca));
  }

  /**
   * A world whose HCAs join any wire.
   *
   * @param join plugs HCA 0 or 1 in
   */
  public SoftWorld(Fabric fabric, SoftHcaOptions options, ObjIntConsumer<SoftHca> join) {
    SoftHca[] made = new SoftHca[2];
    for (int side = 0; side < 2; side++) {
      made[side] = new SoftHca(fabric, Locus.nic(side, 0), "soft" + side, options);
      join.accept(made[side], side);
    }
    super(fabric, made);
    this.hcas = made;
  }

  public SoftHca soft(int side) {
    return hcas[side];
  }
}
