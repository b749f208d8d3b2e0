package dev.doorbell.interop.alltoall;

import dev.doorbell.core.fabric.timed.TimedFabric;
import dev.doorbell.core.fabric.timed.machine.CpuPrices;
import dev.doorbell.core.fabric.timed.machine.NicPrices;
import dev.doorbell.core.fabric.timed.machine.Topology;
import dev.doorbell.core.fault.FaultCount;
import dev.doorbell.core.fault.FaultInjector;
import dev.doorbell.core.fault.FaultPlan;
import dev.doorbell.core.hca.ProtectionDomain;
import dev.doorbell.core.memory.FabricMemory;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.MemoryProvider;
import dev.doorbell.core.problem.EnvironmentException;
import dev.doorbell.proxy.ProxyPrices;
import dev.doorbell.push.network.Switch;
import dev.doorbell.push.network.Switch.SwitchOptions;
import dev.doorbell.push.wire.NetworkWire;
import dev.doorbell.softhca.SoftHca;
import dev.doorbell.softhca.device.HcaTiming;
import dev.doorbell.softhca.device.SoftHcaOptions;
import dev.doorbell.softhca.wire.WireFaults;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;

/**
 * An all-to-all in virtual time: all ranks in this process, joined by a switch that drops what its
 * buffer does not hold. The seed determines everything, the faults' chances included, so that a run
 * can be repeated to the last packet.
 */
public final class VirtualAllToAll {
  /** Buffer of a shallow switch, which all ports share. */
  private static final int BUFFER_BYTES = 1 << 20;

  /** A connection may fill a sixteenth of it. */
  private static final int WINDOW_BYTES = BUFFER_BYTES / 16;

  /** Round trips take microseconds here. */
  private static final long FIRST_RETRY_NANOS = 50_000;

  private final AllToAllOptions options;
  private final Topology topology;
  private final TimedFabric fabric;
  private final Switch between;
  private final NetworkWire wire;
  private final List<Node> nodes = new ArrayList<>();
  private final List<FaultInjector> faults = new ArrayList<>();

  private record Node(SoftHca hca, ProtectionDomain domain, AllToAllRank rank) {
    void close() {
      rank.close();
      domain.close();
      hca.close();
    }
  }

  private VirtualAllToAll(AllToAllOptions options, Topology topology) {
    this.options = options;
    this.topology = topology;
    fabric = new TimedFabric(topology, options.seed());
    long leg = Math.round(topology.network().nanos() / 2);
    double rate = topology.network().bytesPerNano();
    between =
        new Switch(fabric, Locus.nic(0, 0), new SwitchOptions(leg, rate, BUFFER_BYTES, 0, 0, 0));
    wire = new NetworkWire(between, rate, WINDOW_BYTES);
  }

  /**
   * Runs it.
   *
   * @param topology prices of NICs, CPUs and the network
   * @param interrupted polled regularly; true ends the job
   */
  public static AllToAllReport run(
      AllToAllOptions options, Topology topology, BooleanSupplier interrupted)
      throws EnvironmentException {
    VirtualAllToAll job = new VirtualAllToAll(options, topology);
    try {
      job.open();
      return job.run(interrupted);
    } finally {
      job.nodes.forEach(Node::close);
      job.between.close();
      job.fabric.close();
    }
  }

  private void open() throws EnvironmentException {
    NicPrices nic = topology.nics().getFirst();
    CpuPrices cpu = topology.cpus().getFirst();
    SoftHcaOptions hcas =
        SoftHcaOptions.DEFAULT
            .withEngine(SoftHcaOptions.DEFAULT.engine().withFirstRetry(FIRST_RETRY_NANOS))
            .withTiming(HcaTiming.of(nic));
    ProxyPrices prices = new ProxyPrices(Math.round(cpu.poll()), Math.round(cpu.post()));
    FaultPlan given = options.faults();
    FaultPlan plan = new FaultPlan(given.seed() * 31 + options.seed(), given.faults());
    for (int number = 0; number < options.ranks(); number++) {
      SoftHca hca = new SoftHca(fabric, Locus.nic(number, 0), "rank" + number, hcas);
      wire.join(hca, WireFaults.NONE);
      faults.add(plan.bind(number, 0, fabric.now()));
      if (!plan.faults().isEmpty()) {
        hca.inject(faults.getLast());
      }
      MemoryProvider memory = FabricMemory.of(fabric.memory(), number);
      ProtectionDomain domain = hca.allocateProtectionDomain();
      AllToAllRank rank =
          new AllToAllRank(fabric, number, options.ranks(), options.seed(), prices, domain, memory);
      nodes.add(new Node(hca, domain, rank));
    }
  }

  private AllToAllReport run(BooleanSupplier interrupted) throws EnvironmentException {
    AllToAll job =
        new AllToAll(
            fabric,
            nodes.stream().map(Node::rank).toList(),
            options.ranks(),
            new AllToAll.LocalGather(),
            interrupted,
            () -> {},
            options.timeoutNanos());
    long rounds = AllToAll.rounds(options.ranks(), options.messages());
    job.run(rounds);
    long connections = (long) options.ranks() * (options.ranks() - 1);
    return new AllToAllReport(
        rounds * connections * AllToAllTraffic.MESSAGES,
        rounds * connections * AllToAllTraffic.ADDS,
        job.bytesWrong(),
        job.atomicsWrong(),
        wire.sent(),
        wire.delivered(),
        between.counters().lost(),
        fabric.now(),
        FaultCount.total(options.faults(), faults),
        "%016x".formatted(wire.digest()));
  }
}
