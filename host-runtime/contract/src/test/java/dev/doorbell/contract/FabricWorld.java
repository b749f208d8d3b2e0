package dev.doorbell.contract;

import dev.doorbell.core.Basis;
import dev.doorbell.core.agent.Agent;
import dev.doorbell.core.fabric.Access;
import dev.doorbell.core.fabric.Fabric;
import dev.doorbell.core.fabric.ThreadPort;
import dev.doorbell.core.hca.Hca;
import dev.doorbell.core.memory.FabricMemory;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.MemoryProvider;
import java.util.ArrayDeque;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** Two HCAs of two ranks on a fabric, each with a CPU thread that stores to doorbell pages. */
public class FabricWorld implements HcaWorld {
  private static final long RUN_LIMIT_NANOS = 120_000_000_000L;
  private static final long SETTLING_NANOS = 20_000_000;
  private static final int QUIET_SWEEPS = 32;

  public final Fabric fabric;
  private final Hca[] hcas;
  private final Cpu[] cpus = new Cpu[2];
  private int countdown;

  private record Store(long address, long value) {}

  /** A CPU thread that makes the stores it is given. */
  private static final class Cpu implements Agent {
    private final ArrayDeque<Store> stores = new ArrayDeque<>();
    private @Nullable ThreadPort port;

    @Override
    public int step(int budget) {
      ThreadPort out = port;
      Store store = stores.peek();
      if (out == null || store == null) {
        return 0;
      }
      out.store64(store.address, store.value, Access.MMIO);
      if (out.parked) {
        return 0;
      }
      stores.remove();
      return 1;
    }
  }

  /**
   * @param hcas of ranks 0 and 1, attached to {@code fabric}; closed with the world
   */
  public FabricWorld(Fabric fabric, Hca... hcas) {
    this.fabric = fabric;
    this.hcas = hcas;
    for (int side = 0; side < 2; side++) {
      cpus[side] = new Cpu();
      cpus[side].port = fabric.attachThread(Locus.cpu(side), cpus[side]);
    }
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
    cpus[side].stores.add(new Store(address, value));
    fabric.wake(cpus[side]);
  }

  @Override
  public void work(BooleanSupplier done) {
    fabric.run(done, RUN_LIMIT_NANOS);
  }

  @Override
  public void settle() {
    long deadline = System.nanoTime() + waitNanos();
    BooleanSupplier isOver = () -> System.nanoTime() - deadline >= 0;
    if (fabric.basis() == Basis.MODELLED) {
      fabric.run(isOver, SETTLING_NANOS);
    } else {
      countdown = QUIET_SWEEPS;
      fabric.run(() -> countdown-- == 0 || isOver.getAsBoolean(), RUN_LIMIT_NANOS);
    }
    if (isOver.getAsBoolean()) {
      throw new AssertionError("the HCAs did not settle within " + waitNanos() + " ns");
    }
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
