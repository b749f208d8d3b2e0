package dev.doorbell.experiments.scenario.world;

import dev.doorbell.core.adapter.Adapter;
import dev.doorbell.core.agent.ForwardProgress;
import dev.doorbell.core.fabric.DirectFabric;
import dev.doorbell.core.fabric.Fabric;
import dev.doorbell.core.fabric.explore.ExploringFabric;
import dev.doorbell.core.fabric.timed.TimedFabric;
import dev.doorbell.core.fabric.timed.machine.Topology;
import dev.doorbell.core.fault.FaultInjector;
import dev.doorbell.core.fault.FaultPlan;
import dev.doorbell.core.gpu.Gpu;
import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.trace.Trace;
import dev.doorbell.proxy.ProxyPrices;
import dev.doorbell.ptxvm.launch.VmGpu;
import dev.doorbell.ptxvm.launch.VmOptions;
import dev.doorbell.push.network.NetworkPlan;
import dev.doorbell.push.network.SwitchedNetwork;
import dev.doorbell.push.network.SwitchedNetwork.QueueOptions;
import dev.doorbell.push.wire.NetworkWire;
import dev.doorbell.softhca.SoftHca;
import dev.doorbell.softhca.congestion.CongestionOptions;
import dev.doorbell.softhca.device.SoftHcaOptions;
import dev.doorbell.softhca.wire.InProcessWire;
import dev.doorbell.softhca.wire.WireCapture;
import dev.doorbell.softhca.wire.WireFaults;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import java.util.function.Consumer;
import java.util.function.IntFunction;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;

/** A fabric, and ranks with a GPU and an HCA each, connected by one wire. */
public final class World implements AutoCloseable {
  private static final long LEAST_ADDRESSES = 16L << 30;

  /** Room for what a rank receives and for a thousand queue pairs; pages cost when touched. */
  private static final long ADDRESSES_A_RANK = 256L << 20;

  private final Fabric fabric;
  private final SequencedMap<Integer, Rank> ranks = new LinkedHashMap<>();
  private final ProxyPrices cpuPrices;
  private final @Nullable InProcessWire wire;
  private final @Nullable SwitchedNetwork network;

  private World(
      Fabric fabric,
      List<Rank> ranks,
      ProxyPrices cpuPrices,
      @Nullable InProcessWire wire,
      @Nullable SwitchedNetwork network) {
    this.fabric = fabric;
    ranks.forEach(rank -> this.ranks.put(rank.number(), rank));
    this.cpuPrices = cpuPrices;
    this.wire = wire;
    this.network = network;
  }

  /** Ranks with software HCAs on {@code wire}. */
  private static World build(
      Fabric fabric,
      int count,
      IntFunction<SoftHcaOptions> options,
      InProcessWire wire,
      ProxyPrices cpuPrices,
      IntFunction<Gpu> gpus,
      MemoryKind payload) {
    List<Rank> ranks = ranks(fabric, count, options, wire::join, gpus, payload);
    return new World(fabric, ranks, cpuPrices, wire, null);
  }

  private static List<Rank> ranks(
      Fabric fabric,
      int count,
      IntFunction<SoftHcaOptions> options,
      Consumer<SoftHca> join,
      IntFunction<Gpu> gpus,
      MemoryKind payload) {
    List<Rank> ranks = new ArrayList<>();
    for (int number = 0; number < count; number++) {
      Gpu gpu = gpus.apply(number);
      SoftHca hca =
          new SoftHca(fabric, Locus.nic(number, 0), "soft" + number, options.apply(number));
      join.accept(hca);
      ranks.add(Rank.of(number, gpu, hca, payload));
    }
    return ranks;
  }

  private static IntFunction<Gpu> emulated(Fabric fabric) {
    return emulated(fabric, VmOptions.defaults());
  }

  private static IntFunction<Gpu> emulated(Fabric fabric, VmOptions options) {
    return number -> new VmGpu(fabric, Locus.gpu(number, 0), options);
  }

  /** A world that runs as fast as it can; {@code seed} picks the interleaving. */
  public static World direct(int ranks, long seed, SoftHcaOptions options) {
    DirectFabric fabric = new DirectFabric(AddressSpace.reserve(), seed);
    return direct(fabric, ranks, options, MemoryKind.DEVICE, emulated(fabric));
  }

  /**
   * A world that runs as fast as it can, with GPUs of any make.
   *
   * @param payload memory that payload lies in
   * @param gpus creates the GPU of a rank
   */
  public static World direct(
      DirectFabric fabric,
      int ranks,
      SoftHcaOptions options,
      MemoryKind payload,
      IntFunction<Gpu> gpus) {
    return build(fabric, ranks, _ -> options, new InProcessWire(), ProxyPrices.FREE, gpus, payload);
  }

  /** A world of real HCAs, which nothing injects faults into. */
  static World of(Fabric fabric, List<Rank> ranks) {
    return new World(fabric, ranks, ProxyPrices.FREE, null, null);
  }

  /** A world whose fabric explores. */
  public static World exploring(ExploringFabric fabric, int ranks, SoftHcaOptions options) {
    return exploring(fabric, ranks, options, ForwardProgress.FAIR);
  }

  /** A world with GPUs on which some threads may not go on while others wait. */
  public static World exploring(
      ExploringFabric fabric, int ranks, SoftHcaOptions options, ForwardProgress progress) {
    return build(
        fabric,
        ranks,
        _ -> options,
        new InProcessWire(),
        ProxyPrices.FREE,
        emulated(fabric, VmOptions.defaults().withProgress(progress)),
        MemoryKind.DEVICE);
  }

  /**
   * A world in virtual time, with payload in GPU memory.
   *
   * @param topology of every rank, and of the network between them
   * @param mtu path MTU in bytes
   * @param trace receives the events of everything
   */
  public static World timed(Topology topology, int ranks, int mtu, long seed, Trace trace) {
    return timed(
        topology, ranks, mtu, seed, trace, MemoryKind.DEVICE, 0, null, Adapter.DEFAULT, _ -> true);
  }

  /**
   * @param limited whether the engine of a rank's HCA limits rates; that of one that stands for
   *     many does not
   */
  static World timed(
      Topology topology,
      int ranks,
      int mtu,
      long seed,
      Trace trace,
      MemoryKind payload,
      long firstRetryNanos,
      @Nullable Switching switching,
      Adapter adapter,
      IntPredicate limited) {
    SoftHcaOptions usual = VirtualTime.hca(topology).withAdapter(adapter);
    SoftHcaOptions options =
        usual.withEngine(usual.engine().withMtu(mtu).withFirstRetry(firstRetryNanos));
    AddressSpace memory = AddressSpace.reserve(Math.max(LEAST_ADDRESSES, ranks * ADDRESSES_A_RANK));
    TimedFabric fabric = new TimedFabric(topology, memory, seed);
    fabric.trace(trace);
    if (switching != null) {
      return switched(fabric, topology, ranks, seed, options, payload, switching);
    }
    SoftHcaOptions unlimited = options.withTiming(options.timing().unlimited());
    return build(
        fabric,
        ranks,
        rank -> limited.test(rank) ? options : unlimited,
        VirtualTime.wire(topology),
        VirtualTime.cpu(topology),
        emulated(fabric),
        payload);
  }

  private static World switched(
      TimedFabric fabric,
      Topology topology,
      int count,
      long seed,
      SoftHcaOptions options,
      MemoryKind payload,
      Switching switching) {
    SwitchedNetwork network =
        new SwitchedNetwork(fabric, Locus.nic(0, 0), switching.plan(), switching.queues(), seed);
    NetworkWire wire =
        new NetworkWire(network, switching.queues().bytesPerNano(), Integer.MAX_VALUE);
    List<Rank> ranks =
        ranks(
            fabric,
            count,
            _ -> options.withCongestion(switching.congestion()),
            hca -> wire.join(hca, WireFaults.NONE),
            emulated(fabric),
            payload);
    return new World(fabric, ranks, VirtualTime.cpu(topology), null, network);
  }

  /** The switches between the HCAs, or null where there are none. */
  public @Nullable SwitchedNetwork network() {
    return network;
  }

  /** Captures the packets of a world of one process from now on. */
  public void capture(WireCapture into) {
    if (wire == null) {
      throw new IllegalStateException(
          "packets are captured on cables of one process alone: use network: pair");
    }
    wire.capture(into);
  }

  /** The fabric that everything is attached to. */
  public Fabric fabric() {
    return fabric;
  }

  /** Prices of the CPUs' own work. */
  public ProxyPrices cpuPrices() {
    return cpuPrices;
  }

  /**
   * The rank of a number.
   *
   * @throws IllegalArgumentException when it is not in this process
   */
  public Rank rank(int number) {
    Rank rank = ranks.get(number);
    if (rank == null) {
      throw new IllegalArgumentException("rank %d is not in this process".formatted(number));
    }
    return rank;
  }

  /** Returns some of its ranks by new numbers, from 0 on. They are closed with this world. */
  public World group(List<Integer> members) {
    List<Rank> group = new ArrayList<>();
    for (int member : members) {
      Rank of = rank(member);
      group.add(new Rank(group.size(), of.gpu(), of.hca(), of.domain(), of.payload()));
    }
    return new World(fabric, group, cpuPrices, wire, network);
  }

  /** Injects the faults of a plan into every HCA from now on. */
  public List<FaultInjector> inject(FaultPlan plan) {
    List<FaultInjector> injectors = new ArrayList<>();
    if (!plan.faults().isEmpty()) {
      for (Rank rank : ranks.values()) {
        if (rank.hca() instanceof SoftHca hca) {
          FaultInjector injector = plan.bind(rank.number(), 0, fabric.now());
          hca.inject(injector);
          injectors.add(injector);
        }
      }
    }
    return injectors;
  }

  /** Closes HCAs and GPUs, and then the memory of the world. */
  @Override
  public void close() {
    ranks.reversed().values().forEach(Rank::close);
    if (network != null) {
      network.close();
    }
    fabric.close();
  }

  /**
   * Switches between the HCAs of a world in virtual time, and what the HCAs do about congestion.
   *
   * @param plan with a host for each rank
   * @param queues of the switches; HCAs send at the rate of their ports
   */
  public record Switching(NetworkPlan plan, QueueOptions queues, CongestionOptions congestion) {}
}
