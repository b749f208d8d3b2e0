package dev.doorbell.proxy;

import dev.doorbell.core.fabric.timed.TimedFabric;
import dev.doorbell.core.fault.FaultCount;
import dev.doorbell.core.fault.FaultInjector;
import dev.doorbell.core.fault.FaultPlan;
import dev.doorbell.core.hca.AccessRight;
import dev.doorbell.core.hca.CompletionQueue;
import dev.doorbell.core.hca.CompletionQueueAttributes;
import dev.doorbell.core.hca.ConnectionAttributes;
import dev.doorbell.core.hca.ExecutedRequests;
import dev.doorbell.core.hca.MemoryRegion;
import dev.doorbell.core.hca.ProtectionDomain;
import dev.doorbell.core.hca.QueuePair;
import dev.doorbell.core.hca.QueuePairAttributes;
import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.memory.MemoryProvider;
import dev.doorbell.core.queue.CommandEntry;
import dev.doorbell.proxy.recovery.RecoveringPoster.PeerConnection;
import dev.doorbell.softhca.SoftHca;
import dev.doorbell.softhca.device.HcaTiming;
import dev.doorbell.softhca.device.SoftHcaOptions;
import dev.doorbell.softhca.wire.InProcessWire;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Two ranks with a buffer and two HCAs each, in virtual time, and connections over either. */
final class TwoPorts implements PeerConnection.Source, AutoCloseable {
  private static final Set<AccessRight> ALL =
      EnumSet.of(
          AccessRight.LOCAL_WRITE,
          AccessRight.REMOTE_WRITE,
          AccessRight.REMOTE_READ,
          AccessRight.REMOTE_ATOMIC);
  private static final int RANKS = 2;
  private static final int PORTS = 2;

  /** 1 ms until an ACK is missed, 3 retries. */
  private static final ConnectionAttributes QUICK = new ConnectionAttributes(8, 3, 3, 1, 16, 16, 0);

  final TimedFabric fabric;
  final Memory[] buffers = new Memory[RANKS];
  private final SoftHca[][] hcas = new SoftHca[RANKS][PORTS];
  private final ProtectionDomain[][] domains = new ProtectionDomain[RANKS][PORTS];
  private final MemoryRegion[][] regions = new MemoryRegion[RANKS][PORTS];
  private final List<FaultInjector> injectors = new ArrayList<>();

  /** A path by the port that each attempt takes; none is left behind its end. */
  private final int[] path;

  TwoPorts(long seed, int bytes, int... path) {
    this.path = path;
    fabric = new TimedFabric(RoundTopology.sameSwitch(), AddressSpace.reserve(1L << 30), seed);
    for (int port = 0; port < PORTS; port++) {
      InProcessWire wire = new InProcessWire(500, 400);
      for (int rank = 0; rank < RANKS; rank++) {
        SoftHcaOptions options =
            SoftHcaOptions.DEFAULT
                .withTiming(new HcaTiming(50, 120, 100))
                .withEngine(new SoftHcaOptions.Engine(1024, 64, 32, 1024));
        hcas[rank][port] =
            new SoftHca(fabric, Locus.nic(rank, 0), "rank%d.port%d".formatted(rank, port), options);
        wire.join(hcas[rank][port]);
        domains[rank][port] = hcas[rank][port].allocateProtectionDomain();
      }
    }
    for (int rank = 0; rank < RANKS; rank++) {
      buffers[rank] = memory(rank).allocate(MemoryKind.HOST, bytes, "buffer");
      for (int port = 0; port < PORTS; port++) {
        regions[rank][port] = domains[rank][port].register(buffers[rank], ALL);
      }
    }
  }

  private MemoryProvider memory(int rank) {
    return (kind, size, label) -> NativeMemory.allocate(fabric.memory(), rank, kind, size, label);
  }

  /** From now on things go wrong: a port is a device of the plan. */
  void inject(FaultPlan plan) {
    for (int rank = 0; rank < RANKS; rank++) {
      for (int port = 0; port < PORTS; port++) {
        FaultInjector injector = plan.bind(rank, port, fabric.now());
        hcas[rank][port].inject(injector);
        injectors.add(injector);
      }
    }
  }

  /** How often each fault of the plan has fired. */
  List<Long> fired(FaultPlan plan) {
    return FaultCount.total(plan, injectors).stream().map(FaultCount::fired).toList();
  }

  @Override
  public @Nullable PeerConnection open(int attempt) {
    return attempt < path.length ? new PortConnection(path[attempt]) : null;
  }

  /** A fresh pair of queue pairs over one port. */
  private final class PortConnection implements PeerConnection {
    private final int port;
    private final CompletionQueue[] completions = new CompletionQueue[RANKS];
    private final QueuePair[] ends = new QueuePair[RANKS];

    PortConnection(int port) {
      this.port = port;
      for (int rank = 0; rank < RANKS; rank++) {
        ProtectionDomain domain = domains[rank][port];
        completions[rank] =
            domain.createCompletionQueue(
                CompletionQueueAttributes.ring(1024, MemoryKind.HOST), memory(rank));
        ends[rank] =
            domain.createQueuePair(
                new QueuePairAttributes(
                    64, 0, completions[rank], null, MemoryKind.HOST, MemoryKind.HOST),
                memory(rank));
      }
      for (int rank = 0; rank < RANKS; rank++) {
        ends[rank].connect(ends[1 - rank].address(), ALL, QUICK);
      }
    }

    @Override
    public String name() {
      return "port" + port;
    }

    @Override
    public SendQueueAccess access() {
      return SendQueueAccess.of(ends[0], 0, 0);
    }

    @Override
    public void adapt(CommandEntry command) {
      command.localKey = regions[0][port].lkey();
      command.remoteKey = regions[1][port].rkey();
    }

    @Override
    public void stop() {
      ends[1].toError();
      ends[0].toError();
    }

    @Override
    public @Nullable ExecutedRequests executed() {
      return ends[1].executed();
    }

    @Override
    public void deliver(CommandEntry command, long result) {
      buffers[0].putLong(command.localAddress - buffers[0].address(), result);
    }

    @Override
    public void close() {
      for (int rank = 0; rank < RANKS; rank++) {
        ends[rank].close();
        completions[rank].close();
      }
    }
  }

  @Override
  public void close() {
    for (SoftHca[] own : hcas) {
      for (SoftHca hca : own) {
        hca.close();
      }
    }
    fabric.close();
  }
}
