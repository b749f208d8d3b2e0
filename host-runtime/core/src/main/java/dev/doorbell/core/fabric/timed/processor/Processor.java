package dev.doorbell.core.fabric.timed.processor;

import dev.doorbell.core.fabric.timed.event.Picos;
import dev.doorbell.core.fabric.timed.interconnect.Component;
import dev.doorbell.core.fabric.timed.interconnect.Interconnect;
import dev.doorbell.core.fabric.timed.machine.CpuPrices;
import dev.doorbell.core.fabric.timed.machine.GpuPrices;
import dev.doorbell.core.fabric.timed.machine.Topology;
import dev.doorbell.core.fabric.timed.processor.RemoteAccess.LoadCombiner;
import dev.doorbell.core.fabric.timed.processor.Warp.Gate;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The state that the threads of one GPU or CPU share. */
public final class Processor {
  /** The block of a thread that belongs to none. */
  public static final long NO_BLOCK = -1;

  public final Component component;

  public final InstructionPrices prices;

  /** The buffers in which its stores to memory elsewhere gather. */
  public final WriteCombiner stores;

  /** The place at which its loads from memory elsewhere become requests. */
  public final LoadCombiner loads;

  public final StoreOrder released = new StoreOrder();

  /** Bounds of the loads from and the stores to its own memory; null: none. */
  private final @Nullable Gate loadGate;

  private final @Nullable Gate storeGate;
  private final double blockStoreRate;

  private final Map<Long, Block> blocks = new HashMap<>();

  public Processor(Interconnect interconnect, Component component) {
    this.component = component;
    Topology topology = interconnect.topology();
    int index = component.locus.index();
    this.prices = InstructionPrices.of(topology, component.locus);
    int loadGranule = 0;
    double loadRate = 0;
    double storeRate = 0;
    double rateOfBlock = 0;
    int storeGranule = WriteCombiner.REGISTER_BLOCK;
    long window = 0;
    switch (component.locus.part()) {
      case GPU -> {
        GpuPrices gpu = topology.gpus().get(index);
        storeGranule = gpu.storeGranule();
        window = Picos.of(gpu.combineWindow());
        loadGranule = gpu.finer().loadGranule();
        loadRate = gpu.finer().loadRate();
        storeRate = gpu.finer().storeRate();
        rateOfBlock = gpu.finer().blockStoreRate();
      }
      case CPU -> {
        CpuPrices cpu = topology.cpus().get(index);
        storeGranule = cpu.storeGranule();
        window = Picos.of(cpu.combineWindow());
      }
      default -> {}
    }
    this.stores = new WriteCombiner(interconnect, released, storeGranule, window);
    this.loads = new LoadCombiner(loadGranule);
    this.loadGate = Gate.of(loadRate);
    this.storeGate = Gate.of(storeRate);
    this.blockStoreRate = rateOfBlock;
  }

  /** The warp of another thread of a block; a thread without a block is a warp alone. */
  public Warp enter(long block) {
    return block == NO_BLOCK
        ? new Warp(null, storeGate, loadGate)
        : blocks
            .computeIfAbsent(block, key -> new Block(Gate.of(blockStoreRate), storeGate, loadGate))
            .enter();
  }

  /** A thread of a block, or of none, has ended. */
  public void leave(long block) {
    Block left = blocks.get(block);
    if (left != null && left.leave()) {
      blocks.remove(block);
    }
  }

  /** A block of threads: they run on one multiprocessor, whose stores have one bound. */
  private static final class Block {
    private final @Nullable Gate blockStores;
    private final @Nullable Gate stores;
    private final @Nullable Gate loads;
    private @Nullable Warp youngest;

    private int threads;

    Block(@Nullable Gate blockStores, @Nullable Gate stores, @Nullable Gate loads) {
      this.blockStores = blockStores;
      this.stores = stores;
      this.loads = loads;
    }

    /** The warp of the next thread; threads enter in the order of their indices. */
    Warp enter() {
      Warp warp = youngest;
      if (warp == null || warp.full()) {
        warp = new Warp(blockStores, stores, loads);
        youngest = warp;
      }
      threads++;
      return warp;
    }

    /** A thread has ended; true when it was the last one. */
    boolean leave() {
      return --threads == 0;
    }
  }
}
