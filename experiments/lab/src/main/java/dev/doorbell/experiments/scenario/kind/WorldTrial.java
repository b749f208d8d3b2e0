package dev.doorbell.experiments.scenario.kind;

import dev.doorbell.core.fabric.Fabric;
import dev.doorbell.experiments.scenario.world.Owned;
import dev.doorbell.experiments.scenario.world.World;

/** A trial that closes its world, and what it has laid out in it. */
public abstract class WorldTrial implements Trial, AutoCloseable {
  protected final World world;
  private final Owned owned = new Owned();

  protected WorldTrial(World world) {
    this.world = own(world);
  }

  /** Closes {@code part} with this trial, in reverse order. */
  protected final <T extends AutoCloseable> T own(T part) {
    return owned.add(part);
  }

  public final World world() {
    return world;
  }

  @Override
  public final Fabric fabric() {
    return world.fabric();
  }

  @Override
  public final void close() {
    owned.close();
  }
}
