package dev.doorbell.interop.serve;

import dev.doorbell.core.fabric.DirectFabric;
import dev.doorbell.core.fabric.RunOutcome;
import dev.doorbell.core.hca.MemoryRegion;
import dev.doorbell.core.hca.QueuePairAddress;
import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.problem.EnvironmentException;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.core.queue.CommandEntry;
import dev.doorbell.interop.control.ControlClient;
import dev.doorbell.interop.control.ControlLine;
import dev.doorbell.interop.control.ControlLine.Refused;
import dev.doorbell.interop.serve.BenchOptions.Load;
import dev.doorbell.interop.serve.BenchReport.Writes;
import dev.doorbell.proxy.HostPoster;
import dev.doorbell.proxy.ProxyPrices;
import dev.doorbell.softhca.wire.RoceWire.Idleness;
import dev.doorbell.softhca.wire.WireAddress;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.locks.LockSupport;

/** Measures WRITEs from this process to a served HCA, at the highest rate. */
public final class HcaBench {
  private static final long CONTROL_NANOS = 10_000_000_000L;
  private static final long RESERVED = 4L << 30;
  private static final long IDLE_NANOS = 2_000_000_000L;
  private static final int COLLECTIONS = 3;
  private static final String KERNEL_DROPS = "kernel_drops";

  private final BenchOptions options;
  private final DirectFabric fabric = new DirectFabric(AddressSpace.reserve(RESERVED), 0);
  private final CommandEntry command = new CommandEntry();
  private final ThreadMXBean threads = ManagementFactory.getThreadMXBean();

  private HcaBench(BenchOptions options) {
    this.options = options;
  }

  /** Measures, and checks that the last bytes have arrived. */
  public static BenchReport run(BenchOptions options) throws EnvironmentException {
    return new HcaBench(options).run();
  }

  private BenchReport run() throws EnvironmentException {
    try (ControlClient client = new ControlClient(options.at(), CONTROL_NANOS)) {
      ControlLine hello = client.call(ControlLine.of("hello").with("version", 1));
      String own = ownAddress(WireAddress.parse(hello.word("hca")));
      List<HostQueuePair> idle = new ArrayList<>();
      try (HostRank rank = HostRank.open(fabric, 0, own)) {
        try {
          IdleCost cost = options.idle() == 0 ? null : open(client, rank, idle);
          List<Writes> writes = new ArrayList<>();
          for (Load load : options.loads()) {
            writes.add(measure(client, rank, load));
          }
          return new BenchReport(writes, cost);
        } finally {
          idle.forEach(HostQueuePair::close);
        }
      }
    } catch (Refused e) {
      throw failure("the served HCA sends an incomplete answer: " + e.getMessage());
    } finally {
      fabric.close();
    }
  }

  /** The local address of the route to {@code peer}. */
  private static String ownAddress(WireAddress peer) throws EnvironmentException {
    try (DatagramSocket probe = new DatagramSocket()) {
      String host = peer.gid().toString();
      probe.connect(InetAddress.getByName(host), Math.max(1, peer.port()));
      return probe.getLocalAddress().getHostAddress();
    } catch (IOException e) {
      throw failure("no route to %s: %s".formatted(peer, e.getMessage()));
    }
  }

  /** Connects a queue pair to a new one of the server, and returns the number of that one. */
  static int connect(ControlClient client, HostQueuePair queuePair)
      throws EnvironmentException, Refused {
    QueuePairAddress mine = queuePair.queuePair().address();
    ControlLine peer =
        client.call(
            ControlLine.of("connect")
                .with("hca", mine.hca())
                .with("qpn", mine.number())
                .with("psn", mine.startPsn())
                .with("mtu", mine.mtu()));
    int number = (int) peer.number("qpn", 0, Integer.MAX_VALUE);
    queuePair.connect(
        new QueuePairAddress(
            peer.word("hca"),
            number,
            (int) peer.number("psn", 0, Integer.MAX_VALUE),
            (int) peer.number("mtu", 256, 4096)),
        HostQueuePair.LOSSY);
    return number;
  }

  /** Opens the idle queue pairs. */
  private IdleCost open(ControlClient client, HostRank rank, List<HostQueuePair> into)
      throws EnvironmentException, Refused {
    double before = peerShare(client);
    long heap = heapInUse();
    long memory = fabric.memory().bytesInUse();
    for (int i = 0; i < options.idle(); i++) {
      HostQueuePair created = new HostQueuePair(rank.domain(), rank.memory(), 1, 0, 0);
      into.add(created);
      connect(client, created);
    }
    return new IdleCost(
        options.idle(),
        (heapInUse() - heap) / options.idle(),
        (fabric.memory().bytesInUse() - memory) / options.idle(),
        peerShare(client),
        before);
  }

  /** The share of a processor that the serving thread uses while nothing is sent. */
  private static double peerShare(ControlClient client) throws EnvironmentException, Refused {
    long cpu = peerCpu(client);
    long start = System.nanoTime();
    LockSupport.parkNanos(IDLE_NANOS);
    return (double) (peerCpu(client) - cpu) / (System.nanoTime() - start);
  }

  private static long heapInUse() {
    for (int i = 0; i < COLLECTIONS; i++) {
      System.gc();
    }
    return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
  }

  private Writes measure(ControlClient client, HostRank rank, Load load)
      throws EnvironmentException, Refused {
    int blocks = Math.max(16, Integer.highestOneBit(2 * load.depth() - 1));
    long framesBefore = rank.wire().counters().framesOut();
    long dropsBefore = rank.wire().counters().kernelDrops();
    long peerDropsBefore = peer(client, KERNEL_DROPS);
    try (Memory source = rank.memory().allocate(MemoryKind.HOST, load.bytes(), "source");
        Memory back = rank.memory().allocate(MemoryKind.HOST, load.bytes(), "read back");
        MemoryRegion sourceRegion = rank.domain().register(source, HostQueuePair.RIGHTS);
        MemoryRegion backRegion = rank.domain().register(back, HostQueuePair.RIGHTS);
        HostQueuePair queuePair = new HostQueuePair(rank.domain(), rank.memory(), blocks, 0, 0)) {
      ControlLine region = client.call(ControlLine.of("region").with("bytes", load.bytes()));
      int peerNumber = connect(client, queuePair);
      byte[] content = new byte[load.bytes()];
      new SplittableRandom(load.bytes()).nextBytes(content);
      source.putBytes(0, content);
      command.opcode = CommandEntry.OP_PUT;
      command.length = load.bytes();
      command.localAddress = source.address();
      command.localKey = sourceRegion.lkey();
      command.remoteAddress = region.number("address", Long.MIN_VALUE, Long.MAX_VALUE);
      command.remoteKey = (int) region.number("rkey", 0, 0xffff_ffffL);
      try (HostPoster poster =
          new HostPoster(fabric, Locus.cpu(0), ProxyPrices.FREE, queuePair.access())) {
        double[] nanos = new double[options.rounds()];
        double[] cpu = new double[options.rounds()];
        double[] peerCpu = new double[options.rounds()];
        Idleness idleness = new Idleness(List.of(rank.wire()));
        round(queuePair, poster, idleness, load);
        for (int i = 0; i < nanos.length; i++) {
          long peerBefore = peerCpu(client);
          long before = threads.getCurrentThreadCpuTime();
          nanos[i] = (double) round(queuePair, poster, idleness, load) / load.messages();
          cpu[i] = (double) (threads.getCurrentThreadCpuTime() - before) / load.messages();
          peerCpu[i] = (double) (peerCpu(client) - peerBefore) / load.messages();
        }
        command.opcode = CommandEntry.OP_GET;
        command.localAddress = back.address();
        command.localKey = backRegion.lkey();
        round(queuePair, poster, idleness, new Load(load.bytes(), 1, 1));
        if (!Arrays.equals(content, back.getBytes(0, content.length))) {
          throw failure("the bytes read back differ from those written");
        }
        client.call(ControlLine.of("disconnect").with("qpn", peerNumber));
        client.call(ControlLine.of("release").with("rkey", region.word("rkey")));
        return new Writes(
            load.bytes(),
            nanos,
            cpu,
            peerCpu,
            rank.wire().counters().framesOut() - framesBefore,
            rank.wire().counters().kernelDrops() - dropsBefore,
            peer(client, KERNEL_DROPS) - peerDropsBefore);
      }
    }
  }

  /** The CPU time of the serving thread so far. */
  private static long peerCpu(ControlClient client) throws EnvironmentException, Refused {
    return peer(client, "cpu_nanos");
  }

  private static long peer(ControlClient client, String count)
      throws EnvironmentException, Refused {
    return client.call(ControlLine.of("stats")).number(count, 0, Long.MAX_VALUE);
  }

  /** Posts a round and waits for its last message; returns the time that it took. */
  private long round(HostQueuePair queuePair, HostPoster poster, Idleness idleness, Load load)
      throws EnvironmentException {
    long before = poster.ended();
    long target = before + load.messages();
    long[] posted = {before};
    long start = fabric.now();
    RunOutcome outcome =
        fabric.run(
            () -> {
              idleness.look();
              long room = Math.min(target, poster.ended() + load.depth());
              while (posted[0] < room) {
                poster.post(command);
                posted[0]++;
              }
              return poster.ended() == target;
            },
            options.timeoutNanos());
    long nanos = fabric.now() - start;
    if (poster.counters().failed != 0) {
      throw failure("the connection has failed: " + queuePair.firstError());
    }
    if (outcome != RunOutcome.DONE) {
      throw failure(
          "%d of %d WRITEs have completed after %.0f s"
              .formatted(poster.ended() - before, load.messages(), options.timeoutNanos() / 1e9));
    }
    return nanos;
  }

  private static EnvironmentException failure(String what) {
    return new EnvironmentException(
        Problem.of("DB-E045", null, what)
            .effect("there is no result")
            .fix("look at doorbell hca stats of the served HCA"));
  }
}
