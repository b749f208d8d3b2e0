package dev.doorbell.experiments.scenario.world;

import dev.doorbell.core.adapter.Adapter;
import dev.doorbell.core.fabric.DirectFabric;
import dev.doorbell.core.fabric.timed.machine.Topology;
import dev.doorbell.core.gpu.Gpu;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.trace.Trace;
import dev.doorbell.cuda.CudaGpu;
import dev.doorbell.experiments.scenario.device.RealHca;
import dev.doorbell.experiments.scenario.world.World.Switching;
import dev.doorbell.ptxvm.launch.VmGpu;
import dev.doorbell.softhca.device.SoftHcaOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;

/** Builds the world of a point on any backend: two ranks with payload in GPU memory by default. */
public final class WorldBuilder {
  private final ExecutionBackend backend;
  private final Topology topology;
  private int ranks = 2;
  private int mtu = 4096;
  private long seed;
  private MemoryKind payload = MemoryKind.DEVICE;
  private CudaGpu.Mover mover = CudaGpu.Mover.NONE;
  private long firstRetryNanos;
  private Trace trace = Trace.NONE;
  private @Nullable Switching switching;
  private IntPredicate limited = _ -> true;
  private Adapter adapter = Adapter.DEFAULT;

  /**
   * A builder.
   *
   * @param topology of every rank and of the network between them, in virtual time
   */
  public WorldBuilder(ExecutionBackend backend, Topology topology) {
    this.backend = backend;
    this.topology = topology;
  }

  public WorldBuilder ranks(int count) {
    ranks = count;
    return this;
  }

  /** Path MTU in bytes. */
  public WorldBuilder mtu(int bytes) {
    mtu = bytes;
    return this;
  }

  /** Decides what happens first of what happens at the same virtual time. */
  public WorldBuilder seed(long value) {
    seed = value;
    return this;
  }

  /** Memory that payload lies in. */
  public WorldBuilder payload(MemoryKind kind) {
    payload = kind;
    return this;
  }

  /**
   * Sets the way of software HCAs to the memory of a real GPU; {@code NONE}: nothing lies there.
   */
  public WorldBuilder mover(CudaGpu.Mover kind) {
    mover = kind;
    return this;
  }

  /** When HCAs in virtual time first retransmit; 0 for after a whole timeout. */
  public WorldBuilder firstRetry(long nanos) {
    firstRetryNanos = nanos;
    return this;
  }

  /** Switches between the HCAs in virtual time; null for cables between all of them. */
  public WorldBuilder switching(@Nullable Switching between) {
    switching = between;
    return this;
  }

  /** Sets the promises of software HCAs. */
  public WorldBuilder adapter(Adapter promising) {
    adapter = promising;
    return this;
  }

  /** In virtual time the engine of the HCA of {@code rank} limits no rate: it stands for many. */
  public WorldBuilder many(int rank) {
    limited = number -> number != rank;
    return this;
  }

  /** Receives the events of everything in virtual time. */
  public WorldBuilder trace(Trace receiver) {
    trace = receiver;
    return this;
  }

  /**
   * Builds it.
   *
   * @throws dev.doorbell.core.gpu.GpuException when there is no such GPU
   * @throws dev.doorbell.core.hca.HcaException when a device cannot be opened
   */
  public World open() {
    return switch (backend) {
      case ExecutionBackend.Virtual() ->
          World.timed(
              topology,
              ranks,
              mtu,
              seed,
              trace,
              payload,
              firstRetryNanos,
              switching,
              adapter,
              limited);
      case ExecutionBackend.Wall() -> {
        DirectFabric fabric = new DirectFabric();
        fabric.memory().separate(ranks, topology.ranksOfNode(), topology.nvlinkAdvice());
        yield software(fabric, number -> new VmGpu(fabric, Locus.gpu(number, 0)));
      }
      case ExecutionBackend.Cuda(int ordinal) -> {
        DirectFabric fabric = new DirectFabric();
        yield software(fabric, number -> new CudaGpu(fabric, Locus.gpu(number, 0), ordinal, mover));
      }
      case ExecutionBackend.Verbs verbs -> verbs(verbs);
    };
  }

  private World software(DirectFabric fabric, IntFunction<Gpu> gpus) {
    SoftHcaOptions options = SoftHcaOptions.DEFAULT.withAdapter(adapter);
    try {
      return World.direct(fabric, ranks, options, payload, gpus);
    } catch (RuntimeException e) {
      fabric.close();
      throw e;
    }
  }

  private World verbs(ExecutionBackend.Verbs verbs) {
    DirectFabric fabric = new DirectFabric();
    List<Rank> opened = new ArrayList<>();
    try {
      for (int number = 0; number < ranks; number++) {
        Gpu gpu = gpu(fabric, Locus.gpu(number, 0), verbs.ordinal());
        try {
          opened.add(
              Rank.of(number, gpu, verbs.hca().open(fabric, Locus.nic(number, 0), gpu), payload));
        } catch (RuntimeException e) {
          gpu.close();
          throw e;
        }
      }
    } catch (RuntimeException e) {
      opened.reversed().forEach(Rank::close);
      fabric.close();
      throw e;
    }
    return World.of(fabric, opened);
  }

  private static Gpu gpu(DirectFabric fabric, Locus at, int ordinal) {
    return ordinal == ExecutionBackend.Verbs.VM
        ? new VmGpu(fabric, at)
        : new CudaGpu(fabric, at, ordinal, CudaGpu.Mover.NONE, RealHca.pinnedPages());
  }
}
