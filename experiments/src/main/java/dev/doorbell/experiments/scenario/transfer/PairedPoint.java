package dev.doorbell.experiments.scenario.transfer;

import dev.doorbell.core.Basis;
import dev.doorbell.core.fabric.DirectFabric;
import dev.doorbell.core.fabric.RunOutcome;
import dev.doorbell.core.fault.FaultCount;
import dev.doorbell.core.fault.FaultInjector;
import dev.doorbell.core.gpu.GpuException;
import dev.doorbell.core.gpu.Launch;
import dev.doorbell.core.hca.HcaException;
import dev.doorbell.core.hca.QueuePairAddress;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.problem.EnvironmentException;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.core.roce.Gid;
import dev.doorbell.experiments.config.kernel.KernelDescriptor;
import dev.doorbell.experiments.plan.FaultTally;
import dev.doorbell.experiments.plan.Pairing;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.plan.PointContext;
import dev.doorbell.experiments.plan.PointFailure;
import dev.doorbell.experiments.plan.PointResult;
import dev.doorbell.experiments.plan.Samples;
import dev.doorbell.experiments.scenario.kernel.Protocol;
import dev.doorbell.experiments.scenario.kernel.Protocols;
import dev.doorbell.experiments.scenario.kernel.RankBuffers;
import dev.doorbell.experiments.scenario.world.Connection;
import dev.doorbell.experiments.scenario.world.World;
import dev.doorbell.interop.control.ControlLine;
import dev.doorbell.interop.control.ControlLine.Refused;
import dev.doorbell.interop.job.ProcessGroup;
import dev.doorbell.softhca.device.SoftHcaOptions;
import dev.doorbell.softhca.wire.RoceWire;
import dev.doorbell.softhca.wire.RoceWire.Idleness;
import dev.doorbell.softhca.wire.RoceWire.PeerPort;
import dev.doorbell.softhca.wire.WireFaults;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * One point of a transfer experiment whose ranks are two processes, over RoCEv2 in UDP: this
 * process's half of it. Kernels, queues and checks are those of {@link TransferPoint}; the bytes
 * that arrived are compared by their SHA-256, which the sender tells over the rendezvous.
 */
final class PairedPoint {
  private static final long KERNEL_NANOS = 120_000_000_000L;
  private static final long DEADLINE_NANOS = 60_000_000_000L;
  private static final long SLICE_NANOS = 5_000_000;
  private static final long WAITING_NANOS = 500_000;
  private static final long FIRST_RETRY_NANOS = 4_000_000;
  private static final int MAX_QPN = 0xff_ffff;

  private final Point point;
  private final PointContext context;
  private final Protocols protocols;
  private final Pairing pairing;
  private final ProcessGroup group;
  private final TransferSettings settings;
  private final int rank;
  private final List<List<FaultTally>> tallies = new ArrayList<>();
  private int transfers;
  private long verified;

  PairedPoint(
      Point point,
      TransferSettings settings,
      PointContext context,
      Protocols protocols,
      Pairing pairing,
      ProcessGroup group) {
    this.point = point;
    this.context = context;
    this.protocols = protocols;
    this.pairing = pairing;
    this.group = group;
    this.settings = settings;
    this.rank = pairing.rank();
  }

  PointResult run() throws PointFailure, EnvironmentException {
    try {
      List<Samples> samples = new ArrayList<>();
      Protocol pingPong = protocols.latency(point);
      if (pingPong != null && Protocols.wantsLatency(point)) {
        double[] nanos = latency(pingPong);
        if (rank == 0) {
          samples.add(Samples.of("latency", "ns", nanos));
        }
      }
      Protocol streaming = protocols.goodput(point);
      if (streaming != null && protocols.wantsGoodput(point)) {
        double[] rates = goodput(streaming);
        if (rank == 0) {
          samples.add(Samples.of("goodput", "GB/s", rates));
        }
      }
      if (!point.faults().faults().isEmpty()) {
        addTalliesOfOther();
      }
      List<String> notes = new ArrayList<>();
      notes.add("two processes, RoCEv2 in UDP; what PCIe would cost is not in the times");
      if (settings.hasHostQueues()) {
        notes.add("queues in host memory: the path's own placement");
      }
      return new PointResult(Basis.EMULATED, samples, new LinkedHashMap<>(), verified, notes);
    } finally {
      if (!point.faults().faults().isEmpty()) {
        context.faults(FaultTally.total(tallies));
      }
    }
  }

  /** A fault of the plan has fired if it did in either process. */
  private void addTalliesOfOther() throws EnvironmentException {
    List<FaultTally> own = FaultTally.total(tallies);
    String counts =
        own.stream()
            .map(tally -> tally.events() + "/" + tally.fired())
            .collect(Collectors.joining(" "));
    List<String> all = group.gather("%d.faults".formatted(point.index()), counts, () -> {});
    String[] other = all.get(1 - rank).split(" ", -1);
    List<FaultTally> theirs = new ArrayList<>();
    for (int i = 0; i < own.size(); i++) {
      String[] pair = other[i].split("/", -1);
      theirs.add(
          new FaultTally(
              own.get(i).fault(),
              own.get(i).mustFire(),
              Long.parseLong(pair[0]),
              Long.parseLong(pair[1])));
    }
    tallies.add(theirs);
  }

  private double[] latency(Protocol protocol) throws PointFailure, EnvironmentException {
    double[] nanos = new double[rank == 0 ? point.samples() : 0];
    transfer(
        protocol,
        rank,
        point.samples(),
        point.warmup(),
        buffers -> {
          long[] values = buffers.samples();
          for (int i = 0; i < nanos.length; i++) {
            nanos[i] = values[i];
          }
        });
    return nanos;
  }

  private double[] goodput(Protocol protocol) throws PointFailure, EnvironmentException {
    double[] rates = new double[point.launches()];
    TransferPlan plan = plan(protocol);
    int messages = plan.messages();
    for (int batch = 0; batch < rates.length; batch++) {
      int which = batch;
      transfer(
          protocol,
          rank == 0 ? 2 + batch : 1,
          messages,
          0,
          buffers -> {
            long nanos = Math.max(1, buffers.ended() - buffers.started());
            rates[which] = (double) settings.size() * messages * plan.blocks() / nanos;
          });
    }
    return rates;
  }

  private TransferPlan plan(Protocol protocol) {
    return new TransferPlan(settings, protocol, KERNEL_NANOS, DEADLINE_NANOS);
  }

  /** What is read off rank 0's side after a transfer. */
  private interface Reading {
    void of(RankBuffers buffers);
  }

  private void transfer(Protocol protocol, long salt, int iterations, int warmup, Reading reading)
      throws PointFailure, EnvironmentException {
    DirectFabric fabric = new DirectFabric();
    List<FaultInjector> injectors;
    World made;
    RoceWire wire;
    try {
      wire =
          RoceWire.udp(
              fabric,
              Locus.nic(rank, 0),
              Gid.parse(pairing.address()),
              0,
              WireFaults.NONE,
              PeerPort.STRICT);
      made =
          World.part(
              fabric,
              rank,
              wire,
              SoftHcaOptions.DEFAULT
                  .withAdapter(settings.queues().nic().adapter())
                  .withEngine(
                      SoftHcaOptions.DEFAULT
                          .engine()
                          .withMtu(settings.queues().mtu())
                          .withFirstRetry(FIRST_RETRY_NANOS)));
      injectors = made.inject(point.faults().forTransfer(point.seed()));
    } catch (HcaException | IllegalArgumentException e) {
      fabric.close();
      throw new EnvironmentException(
          Problem.of("DB-E044", null, "cannot open an HCA: " + e.getMessage())
              .fix("use an address of this machine, and faults that can happen to packets"));
    }
    Idleness idleness = new Idleness(List.of(wire));
    try (World world = made;
        Connection connection =
            Connection.half(
                world, rank, plan(protocol).endpoint(), settings.ringing(), settings.qps());
        RankBuffers buffers =
            plan(protocol).buffers(connection, world.rank(rank), salt, iterations, warmup)) {
      Half half = new Half(world, buffers, idleness);
      half.connect(connection);
      half.run(protocol, iterations, warmup);
      half.verify(protocol);
      if (rank == 0) {
        reading.of(buffers);
      }
    } finally {
      tallies.add(FaultTally.of(FaultCount.total(point.faults(), injectors)));
    }
  }

  /** One transfer of this process. */
  private final class Half {
    private final World world;
    private final RankBuffers buffers;
    private final Idleness idleness;
    private final String name = "%d.%d".formatted(point.index(), transfers++);
    private RankBuffers.@Nullable Target target;

    Half(World world, RankBuffers buffers, Idleness idleness) {
      this.world = world;
      this.buffers = buffers;
      this.idleness = idleness;
    }

    /** The HCA is stepped while this process waits: the other one may miss an acknowledgement. */
    private List<String> meet(String step, String value) throws EnvironmentException {
      BooleanSupplier never =
          () -> {
            idleness.look();
            return false;
          };
      return group.gather(
          "%s.%s".formatted(name, step), value, () -> world.fabric().run(never, WAITING_NANOS));
    }

    void connect(Connection connection) throws EnvironmentException {
      RankBuffers.Target own = buffers.target();
      ControlLine card =
          ControlLine.of("card")
              .with("point", point.id())
              .with("address", own.address())
              .with("key", own.key())
              .with("signals", own.signals())
              .with("signals_key", own.signalsKey());
      List<dev.doorbell.experiments.scenario.world.Endpoint> ends = connection.endpoints(rank);
      for (int i = 0; i < ends.size(); i++) {
        QueuePairAddress address = ends.get(i).queuePair().address();
        card =
            card.with("hca", address.hca())
                .with("mtu", address.mtu())
                .with("qpn%d".formatted(i), address.number())
                .with("psn%d".formatted(i), address.startPsn());
      }
      List<String> cards = meet("cards", card.text());
      try {
        ControlLine peer = ControlLine.parse(cards.get(1 - rank));
        if (!peer.word("point").equals(point.id())) {
          throw new Refused(
              "it runs point %s, and this one runs %s".formatted(peer.word("point"), point.id()));
        }
        List<QueuePairAddress> addresses = new ArrayList<>();
        for (int i = 0; i < ends.size(); i++) {
          addresses.add(
              new QueuePairAddress(
                  peer.word("hca"),
                  (int) peer.number("qpn%d".formatted(i), 1, MAX_QPN),
                  (int) peer.number("psn%d".formatted(i), 0, MAX_QPN),
                  (int) peer.number("mtu", 256, 4096)));
        }
        connection.connect(rank, addresses);
        target =
            new RankBuffers.Target(
                peer.number("address", Long.MIN_VALUE, Long.MAX_VALUE),
                (int) peer.number("key", Integer.MIN_VALUE, Integer.MAX_VALUE),
                peer.number("signals", Long.MIN_VALUE, Long.MAX_VALUE),
                (int) peer.number("signals_key", Integer.MIN_VALUE, Integer.MAX_VALUE));
      } catch (Refused e) {
        throw new EnvironmentException(
            Problem.of("DB-E043", null, "the other process cannot be joined: " + e.getMessage())
                .fix("start both with the same experiment and the same -s"));
      }
    }

    void run(Protocol protocol, int iterations, int warmup)
        throws PointFailure, EnvironmentException {
      KernelDescriptor.Launch launch = protocol.descriptor().launch();
      RankBuffers.Target to = target;
      String firstError = "";
      Supplier<Launch> start = null;
      try {
        if (to != null && (rank == 0 || launch.bothRanks())) {
          start =
              buffers.prepare(
                  protocol,
                  plan(protocol).job(rank, iterations, warmup),
                  to,
                  plan(protocol).launch());
        }
      } catch (GpuException e) {
        firstError = String.valueOf(e.getMessage());
      }
      // Nobody sends to an end that is not connected yet.
      meet("connected", "");
      if (start != null) {
        firstError = await(start);
      }
      List<String> outcomes = meet("done", firstError.replace('\n', ' '));
      for (int who = 0; who < outcomes.size(); who++) {
        if (!outcomes.get(who).isEmpty()) {
          throw failure(
              context.cancelled() ? PointFailure.Kind.CANCELLED : PointFailure.Kind.FAILED,
              "DB-P001",
              "process %d: %s".formatted(who, outcomes.get(who)));
        }
      }
    }

    /** Runs the kernel to its end; what went wrong, in words, or nothing. */
    private String await(Supplier<Launch> start) throws EnvironmentException {
      Launch launch;
      try {
        launch = start.get();
      } catch (GpuException e) {
        return String.valueOf(e.getMessage());
      }
      BooleanSupplier done =
          () -> {
            idleness.look();
            return launch.done();
          };
      while (world.fabric().run(done, SLICE_NANOS) != RunOutcome.DONE) {
        if (context.cancelled()) {
          launch.cancel("interrupted");
          return "interrupted";
        }
        try {
          group.requireAll();
        } catch (EnvironmentException e) {
          launch.cancel("the other process has left");
          throw e;
        }
      }
      try {
        launch.check();
      } catch (GpuException e) {
        return String.valueOf(e.getMessage());
      }
      world.fabric().quiesce();
      String firstError = buffers.firstError();
      return firstError == null ? "" : firstError;
    }

    void verify(Protocol protocol) throws PointFailure, EnvironmentException {
      List<String> sent = meet("sent", buffers.sentDigest());
      boolean both = protocol.descriptor().verify() == KernelDescriptor.Verify.BOTH;
      String verdict = "";
      if (rank == 1 || both) {
        if (!buffers.arrivedDigest().equals(sent.get(1 - rank))) {
          verdict = "the inbox of rank %d is not what rank %d sent".formatted(rank, 1 - rank);
        } else if (!buffers.guardsAreIntact()) {
          verdict = "rank %d: bytes outside the message were written".formatted(rank);
        }
      }
      for (String each : meet("verified", verdict)) {
        if (!each.isEmpty()) {
          throw failure(PointFailure.Kind.MISMATCH, "DB-P002", each);
        }
      }
      verified += (both ? 2L : 1L) * buffers.bytes();
    }
  }

  private PointFailure failure(PointFailure.Kind kind, String code, String what) {
    return new PointFailure(
        kind, Problem.of(code, point.id(), what).effect("the point has no result"));
  }
}
