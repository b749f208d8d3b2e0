package dev.doorbell.experiments.scenario.world;

import dev.doorbell.core.fabric.DirectFabric;
import dev.doorbell.core.fabric.Fabric;
import dev.doorbell.core.fabric.explore.ExploringFabric;
import dev.doorbell.core.fabric.timed.TimedFabric;
import dev.doorbell.core.fabric.timed.machine.CpuPrices;
import dev.doorbell.core.fabric.timed.machine.Network;
import dev.doorbell.core.fabric.timed.machine.NicPrices;
import dev.doorbell.core.fabric.timed.machine.Topology;
import dev.doorbell.core.fault.FaultInjector;
import dev.doorbell.core.fault.FaultPlan;
import dev.doorbell.core.gpu.Gpu;
import dev.doorbell.core.hca.Hca;
import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.trace.Trace;
import dev.doorbell.cuda.CudaGpu;
import dev.doorbell.experiments.scenario.device.RealHca;
import dev.doorbell.proxy.ProxyPrices;
import dev.doorbell.ptxvm.launch.VmGpu;
import dev.doorbell.softhca.SoftHca;
import dev.doorbell.softhca.device.HcaTiming;
import dev.doorbell.softhca.device.SoftHcaOptions;
import dev.doorbell.softhca.wire.InProcessWire;
import dev.doorbell.softhca.wire.RoceWire;
import dev.doorbell.softhca.wire.WireCapture;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/** An emulated cluster: a fabric, and ranks with a GPU and an HCA each, on one wire. */
public final class World implements AutoCloseable {
  private final Fabric fabric;
  private final List<Rank> ranks;
  private final List<SoftHca> hcas;
  private final ProxyPrices cpuPrices;
  private final @Nullable InProcessWire wire;

  private World(
      Fabric fabric,
      List<Rank> ranks,
      List<SoftHca> hcas,
      ProxyPrices cpuPrices,
      @Nullable InProcessWire wire) {
    this.wire = wire;
    this.fabric = fabric;
    this.ranks = ranks;
    this.hcas = hcas;
    this.cpuPrices = cpuPrices;
  }

  /** A world that runs as fast as it can; {@code seed} picks the interleaving. */
  public static World direct(int ranks, long seed, SoftHcaOptions options) {
    return build(
        new DirectFabric(AddressSpace.reserve(), seed),
        ranks,
        options,
        new InProcessWire(),
        ProxyPrices.FREE,
        Trace.NONE);
  }

  /**
   * The same with payload in memory of a kind, and with GPUs of another make.
   *
   * @param gpus makes the GPU of a rank
   */
  public static World direct(
      DirectFabric fabric,
      int ranks,
      SoftHcaOptions options,
      MemoryKind payload,
      IntFunction<Gpu> gpus) {
    return build(
        fabric, ranks, options, new InProcessWire(), ProxyPrices.FREE, Trace.NONE, gpus, payload);
  }

  /**
   * A world whose ranks share a real GPU, with HCAs in software that reach host memory alone:
   * queues and payload have to lie there.
   *
   * @param ordinal which device, as CUDA counts
   * @throws dev.doorbell.core.gpu.GpuException when there is none
   */
  public static World cuda(int ordinal, int ranks, SoftHcaOptions options) {
    return cuda(ordinal, CudaGpu.Mover.NONE, ranks, options, MemoryKind.HOST);
  }

  /**
   * A world whose ranks share a real GPU, with HCAs in software.
   *
   * @param ordinal which device, as CUDA counts
   * @param mover how the HCAs reach its memory; {@code NONE} where nothing of theirs lies there
   * @throws dev.doorbell.core.gpu.GpuException when there is none
   */
  public static World cuda(
      int ordinal, CudaGpu.Mover mover, int ranks, SoftHcaOptions options, MemoryKind payload) {
    DirectFabric fabric = new DirectFabric();
    try {
      return direct(
          fabric,
          ranks,
          options,
          payload,
          number -> new CudaGpu(fabric, Locus.gpu(number, 0), ordinal, mover));
    } catch (RuntimeException e) {
      fabric.close();
      throw e;
    }
  }

  /**
   * The part of a world that is in this process: one rank, whose HCA is on a wire to others.
   *
   * @param wire of that rank on {@code fabric}, without an HCA yet
   */
  public static World part(DirectFabric fabric, int rank, RoceWire wire, SoftHcaOptions options) {
    SoftHca hca = new SoftHca(fabric, Locus.nic(rank, 0), "soft" + rank, options);
    wire.join(hca);
    Gpu gpu = new VmGpu(fabric, Locus.gpu(rank, 0));
    return new World(
        fabric,
        List.of(new Rank(rank, gpu, hca, hca.allocateProtectionDomain(), MemoryKind.DEVICE)),
        List.of(hca),
        ProxyPrices.FREE,
        null);
  }

  /** A world whose fabric explores. */
  public static World exploring(ExploringFabric fabric, int ranks) {
    return exploring(fabric, ranks, SoftHcaOptions.DEFAULT);
  }

  /** A world whose fabric explores, with HCAs of a given kind. */
  public static World exploring(ExploringFabric fabric, int ranks, SoftHcaOptions options) {
    return build(fabric, ranks, options, new InProcessWire(), ProxyPrices.FREE, Trace.NONE);
  }

  /**
   * A world in virtual time.
   *
   * @param topology of every rank, and of the network between them
   * @param mtu path MTU in bytes
   * @param trace hears events of everything
   */
  public static World timed(Topology topology, int ranks, int mtu, long seed, Trace trace) {
    return timed(topology, ranks, mtu, seed, trace, MemoryKind.DEVICE, 0);
  }

  /**
   * The same with payload in memory of a kind, and HCAs that repeat sooner than after a whole
   * timeout.
   *
   * @param firstRetryNanos of {@link SoftHcaOptions.Engine}
   */
  public static World timed(
      Topology topology,
      int ranks,
      int mtu,
      long seed,
      Trace trace,
      MemoryKind payload,
      long firstRetryNanos) {
    NicPrices nic = topology.nics().getFirst();
    Network network = topology.network();
    CpuPrices cpu = topology.cpus().getFirst();
    SoftHcaOptions.Engine engine = SoftHcaOptions.DEFAULT.engine();
    SoftHcaOptions options =
        SoftHcaOptions.DEFAULT
            .withEngine(engine.withMtu(mtu).withFirstRetry(firstRetryNanos))
            .withTiming(
                new HcaTiming(
                    Math.round(nic.doorbell()), Math.round(nic.wqe()), Math.round(nic.packet())));
    TimedFabric fabric = new TimedFabric(topology, seed);
    return build(
        fabric,
        ranks,
        options,
        new InProcessWire(Math.round(network.nanos()), network.bytesPerNano() * Byte.SIZE),
        new ProxyPrices(Math.round(cpu.poll()), Math.round(cpu.post())),
        trace,
        number -> new VmGpu(fabric, Locus.gpu(number, 0)),
        payload);
  }

  /** As {@link #verbs(RealHca, int, int, MemoryKind)}, with payload in memory of the GPU. */
  public static World verbs(RealHca real, int ordinal, int ranks) {
    return verbs(real, ordinal, ranks, MemoryKind.DEVICE);
  }

  /**
   * A world whose ranks have HCAs that libibverbs drives.
   *
   * @param ordinal the CUDA device that they share, or {@link ExecutionBackend.Verbs#VM}
   * @param payload what payload lies in
   * @throws dev.doorbell.core.hca.HcaException when a device cannot be opened
   * @throws dev.doorbell.core.gpu.GpuException when there is no such GPU
   */
  public static World verbs(RealHca real, int ordinal, int ranks, MemoryKind payload) {
    DirectFabric fabric = new DirectFabric();
    List<Rank> opened = new ArrayList<>();
    try {
      for (int number = 0; number < ranks; number++) {
        Locus at = Locus.gpu(number, 0);
        Gpu gpu =
            ordinal == ExecutionBackend.Verbs.VM
                ? new VmGpu(fabric, at)
                : new CudaGpu(fabric, at, ordinal, CudaGpu.Mover.NONE, RealHca.pinnedPages());
        try {
          Hca hca = real.open(fabric, Locus.nic(number, 0), gpu);
          opened.add(new Rank(number, gpu, hca, hca.allocateProtectionDomain(), payload));
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
    return new World(fabric, List.copyOf(opened), List.of(), ProxyPrices.FREE, null);
  }

  private static World build(
      Fabric fabric,
      int count,
      SoftHcaOptions options,
      InProcessWire wire,
      ProxyPrices cpuPrices,
      Trace trace) {
    return build(
        fabric,
        count,
        options,
        wire,
        cpuPrices,
        trace,
        number -> new VmGpu(fabric, Locus.gpu(number, 0)),
        MemoryKind.DEVICE);
  }

  private static World build(
      Fabric fabric,
      int count,
      SoftHcaOptions options,
      InProcessWire wire,
      ProxyPrices cpuPrices,
      Trace trace,
      IntFunction<Gpu> gpus,
      MemoryKind payload) {
    fabric.trace(trace);
    List<Rank> ranks = new ArrayList<>();
    List<SoftHca> hcas = new ArrayList<>();
    for (int number = 0; number < count; number++) {
      Gpu gpu = gpus.apply(number);
      SoftHca hca = new SoftHca(fabric, Locus.nic(number, 0), "soft" + number, options);
      wire.join(hca);
      hcas.add(hca);
      ranks.add(new Rank(number, gpu, hca, hca.allocateProtectionDomain(), payload));
    }
    return new World(fabric, List.copyOf(ranks), List.copyOf(hcas), cpuPrices, wire);
  }

  /** Captures the packets of a world of one process from now on. */
  public void capture(WireCapture into) {
    if (wire == null) {
      throw new IllegalStateException("the wire of this world goes to other processes");
    }
    wire.capture(into);
  }

  /** What everything in it is attached to. */
  public Fabric fabric() {
    return fabric;
  }

  /** What the CPUs' own work costs. */
  public ProxyPrices cpuPrices() {
    return cpuPrices;
  }

  /**
   * A machine of this world.
   *
   * @throws IllegalArgumentException when it is not in this process
   */
  public Rank rank(int number) {
    for (Rank rank : ranks) {
      if (rank.number() == number) {
        return rank;
      }
    }
    throw new IllegalArgumentException("rank %d is not in this process".formatted(number));
  }

  /** From now on things go wrong as the plan says, at every HCA; counted from now on. */
  public List<FaultInjector> inject(FaultPlan plan) {
    List<FaultInjector> injectors = new ArrayList<>();
    if (!plan.faults().isEmpty()) {
      for (int i = 0; i < hcas.size(); i++) {
        FaultInjector injector = plan.bind(ranks.get(i).number(), 0, fabric.now());
        hcas.get(i).inject(injector);
        injectors.add(injector);
      }
    }
    return injectors;
  }

  /** Closes what is left: HCAs, GPUs and then the memory of the world. */
  @Override
  public void close() {
    for (Rank rank : ranks.reversed()) {
      rank.close();
    }
    fabric.close();
  }
}
