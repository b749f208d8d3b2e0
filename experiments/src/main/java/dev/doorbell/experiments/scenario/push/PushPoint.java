package dev.doorbell.experiments.scenario.push;

import dev.doorbell.core.Basis;
import dev.doorbell.core.fabric.RunOutcome;
import dev.doorbell.core.fabric.timed.TimedFabric;
import dev.doorbell.core.fabric.timed.machine.Topology;
import dev.doorbell.core.gpu.GpuException;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.core.push.PushRingView;
import dev.doorbell.core.queue.Abi;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.plan.PointContext;
import dev.doorbell.experiments.plan.PointFailure;
import dev.doorbell.experiments.plan.PointResult;
import dev.doorbell.experiments.plan.Quantity;
import dev.doorbell.experiments.scenario.world.Owned;
import dev.doorbell.ptxvm.launch.VmGpu;
import dev.doorbell.push.PushChecker;
import dev.doorbell.push.PushEvent;
import dev.doorbell.push.PushOptions;
import dev.doorbell.push.PushOptions.Receiving;
import dev.doorbell.push.PushOptions.Release;
import dev.doorbell.push.PushOptions.Service;
import dev.doorbell.push.PushViolation;
import dev.doorbell.push.RingShape;
import dev.doorbell.push.WindowOptions;
import dev.doorbell.push.WindowOptions.Policy;
import dev.doorbell.push.network.Cable;
import dev.doorbell.push.network.Network;
import dev.doorbell.push.network.Switch;
import dev.doorbell.push.network.SwitchOptions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * One point of an experiment on pushing, in virtual time: one or more GPUs push to one, each event
 * is held against the protocol's invariants, and each byte that was accepted is compared at the
 * target.
 */
final class PushPoint {
  private static final long KERNEL_NANOS = 20_000_000_000L;
  private static final long DEADLINE_NANOS = 5_000_000_000L;
  private static final long SLICE_NANOS = 1_000_000;

  /** Mean service time of random points; the way of a credit is small beside it. */
  private static final long MEAN_SERVICE_NANOS = 50_000;

  /** Messages to a sample of a random point, and of a stream. */
  static final int BATCH_MESSAGES = 2_000;

  private static final long STREAM_BYTES = 2L << 20;
  private static final int FEWEST_MESSAGES = 32;
  private static final long INCAST_BYTES = 128 << 10;
  private static final int UNIT = 16;
  private static final int MOST_THREADS = 64;
  private static final int FALLBACK_ENTRIES = 8;
  private static final int FRAME_OVERHEAD = 98;

  private final Point point;
  private final PointContext context;
  private final Topology topology;
  private final boolean wall;
  private final int senders;
  private final int bytes;
  private final int slots;
  private final boolean random;
  private final PushChecker checker = new PushChecker();
  private final PushMeasures measures;

  /**
   * @param wall in wall time, in which no network fills; refused
   */
  PushPoint(Point point, PointContext context, Topology topology, boolean wall) {
    this.point = point;
    this.context = context;
    this.topology = topology;
    this.wall = wall;
    this.senders = (int) point.whole("senders");
    this.bytes = (int) point.whole("size");
    this.slots = (int) point.whole("slots");
    this.random = point.whole("load") > 0;
    this.measures = new PushMeasures(point, checker);
  }

  /** Runs it. */
  PointResult run() throws PointFailure {
    if (wall) {
      throw failure("DB-P022", "networks fill in virtual time alone", "use clock: virtual");
    }
    try (Owned open = new Owned()) {
      return run(open.add(new TimedFabric(topology, point.seed())), open);
    } catch (PushViolation e) {
      throw failure(
          "DB-P023",
          String.valueOf(e.getMessage()),
          "the protocol is broken; the point has no result");
    } catch (GpuException e) {
      throw failure("DB-P001", String.valueOf(e.getMessage()), "no result");
    }
  }

  private PointResult run(TimedFabric fabric, Owned open) throws PointFailure {
    Network network = network(fabric, open);
    PushTraffic traffic = traffic();
    VmGpu target = open.add(new VmGpu(fabric, Locus.gpu(senders, 0)));
    PushNode receiver =
        open.add(new PushNode(fabric, target, network, options(0), checker, measures));
    long share = (long) traffic.total() * bytes;
    Memory inbox = receiver.inbox(share * senders);
    List<PushNode> nodes = new ArrayList<>();
    for (int i = 0; i < senders; i++) {
      VmGpu gpu = open.add(new VmGpu(fabric, Locus.gpu(i, 0)));
      PushNode node = open.add(new PushNode(fabric, gpu, network, options(i + 1), checker));
      node.prepare(traffic, point.seed() + i, true);
      nodes.add(node);
    }
    for (int i = 0; i < senders; i++) {
      nodes.get(i).launch(inbox.address() + i * share, KERNEL_NANOS);
    }
    await(fabric, nodes);
    long verified = verify(nodes, inbox, share);
    return new PointResult(
        Basis.MODELLED, measures.samples(nodes), counters(network), verified, List.of());
  }

  private Network network(TimedFabric fabric, Owned open) {
    long rtt = point.whole("rtt");
    if (point.text("switch").equals("none")) {
      return open.add(new Cable(fabric, Locus.nic(0, 0), rtt / 2, Cable.Impairment.NONE));
    }
    int buffer = (int) point.whole("buffer");
    boolean pauses = point.text("switch").equals("pfc");
    boolean marks = pauses || point.text("switch").equals("ecn");
    double rate = topology.network().bytesPerNano();
    // Headroom: what a sender puts on the wire until the pause has reached it, and one frame.
    long headroom = Math.round(rtt / 2.0 * rate) + 2L * frame();
    int pause = (int) Math.max(frame(), buffer / senders - headroom);
    return open.add(
        new Switch(
            fabric,
            Locus.nic(0, 0),
            new SwitchOptions(
                rtt / 4,
                rate,
                buffer,
                marks ? mark(buffer) : 0,
                pauses ? pause : 0,
                pauses ? pause / 2 : 0)));
  }

  private int mark(int buffer) {
    long asked = point.whole("mark");
    return asked == 0 ? buffer / 4 : (int) asked;
  }

  private int frame() {
    return bytes + FRAME_OVERHEAD;
  }

  private PushOptions options(int salt) {
    int window = (int) point.whole("window") * bytes;
    String policy = point.text("policy");
    PushOptions options =
        PushOptions.DEFAULT
            .with(
                point.text("release").equals("acknowledged")
                    ? Release.ACKNOWLEDGED
                    : Release.TRANSMITTED)
            .with(
                random
                    ? new Service(Double.MAX_VALUE, MEAN_SERVICE_NANOS, serviceSeed(salt))
                    : new Service(topology.network().bytesPerNano(), packetNanos(), 0))
            .with(
                new WindowOptions(
                    switch (policy) {
                      case "static" -> Policy.STATIC;
                      case "ack", "pull-fallback" -> Policy.ACKNOWLEDGED;
                      case "grant" -> Policy.GRANTED;
                      default -> Policy.NONE;
                    },
                    window));
    return policy.equals("grant")
        ? options.with(new Receiving(0, 0, true, roundTripBytes()))
        : options;
  }

  /** Far from the seed of the gaps: neighbouring seeds would give neighbouring times. */
  private long serviceSeed(int salt) {
    return new SplittableRandom(point.seed() + salt).split().nextLong() | 1;
  }

  /** What keeps the receiver's port busy: as much as it gets in a round trip, and two frames. */
  private int roundTripBytes() {
    return (int) Math.round(point.whole("rtt") * topology.network().bytesPerNano()) + 2 * frame();
  }

  private long packetNanos() {
    return Math.round(topology.nics().getFirst().wqe() + topology.nics().getFirst().packet());
  }

  private PushTraffic traffic() {
    int entries = point.text("policy").equals("pull-fallback") ? FALLBACK_ENTRIES * slots : slots;
    RingShape shape = new RingShape(entries, slots, bytes, 0);
    int wanted =
        random
            ? (point.warmup() + point.samples()) * BATCH_MESSAGES
            : (int) Math.max(FEWEST_MESSAGES, (senders > 1 ? INCAST_BYTES : STREAM_BYTES) / bytes);
    int producers = (int) point.whole("producers");
    int messages = wanted - wanted % producers;
    PushTraffic traffic =
        PushTraffic.of(shape, bytes, messages, 0)
            .withBatch((int) point.whole("batch"))
            .withThreads(Math.clamp(bytes / UNIT, 1, MOST_THREADS))
            .withFlags(point.text("full").equals("drop") ? PushRingView.LOSSY : 0)
            .withDeadline(DEADLINE_NANOS);
    return random ? traffic.withGaps(gaps(messages)) : traffic.withProducers(producers);
  }

  /** Exponential times between messages. */
  private long[] gaps(int count) {
    SplittableRandom source = new SplittableRandom(point.seed());
    double mean = MEAN_SERVICE_NANOS * 100.0 / point.whole("load");
    long[] gaps = new long[count];
    Arrays.setAll(gaps, i -> Math.round(-Math.log(1 - source.nextDouble()) * mean));
    return gaps;
  }

  private void await(TimedFabric fabric, List<PushNode> nodes) throws PointFailure {
    long left = KERNEL_NANOS;
    while (left > 0) {
      RunOutcome outcome = fabric.run(() -> allDone(nodes), SLICE_NANOS);
      if (outcome == RunOutcome.DONE) {
        fabric.quiesce();
        return;
      }
      if (outcome == RunOutcome.STALLED) {
        throw failure("DB-P003", "nothing can happen any more: " + fabric.waiting(), "no result");
      }
      if (context.cancelled()) {
        throw new PointFailure(
            PointFailure.Kind.CANCELLED,
            Problem.of("DB-P004", point.id(), "interrupted").effect("no result"));
      }
      left -= SLICE_NANOS;
    }
    throw failure("DB-P005", "the kernels did not end", "no result");
  }

  private static boolean allDone(List<PushNode> nodes) {
    for (int i = 0; i < nodes.size(); i++) {
      if (!nodes.get(i).done()) {
        return false;
      }
    }
    return true;
  }

  private long verify(List<PushNode> nodes, Memory inbox, long share) throws PointFailure {
    for (int i = 0; i < nodes.size(); i++) {
      PushNode node = nodes.get(i);
      int outcome = node.outcome();
      if (outcome != Abi.OK) {
        throw failure(
            "DB-P001",
            "sender %d: %s; %s".formatted(i, Abi.statusText(outcome), node.engine().state()),
            "no result");
      }
      String wrong = node.mismatch(inbox, i * share);
      if (wrong != null) {
        throw new PointFailure(
            PointFailure.Kind.MISMATCH,
            Problem.of("DB-P002", point.id(), "sender %d: %s".formatted(i, wrong))
                .effect("the point has no result"));
      }
    }
    checker.finish();
    return checker.count(PushEvent.Kind.DELIVERED) * bytes;
  }

  private SequencedMap<String, Quantity> counters(Network network) {
    SequencedMap<String, Quantity> counters = new LinkedHashMap<>();
    Switch.@Nullable Counters at = network instanceof Switch made ? made.counters() : null;
    for (String metric : point.metrics()) {
      long count =
          switch (metric) {
            case "retransmitted" -> checker.count(PushEvent.Kind.RETRANSMITTED);
            case "pulled" -> checker.count(PushEvent.Kind.PULLED);
            case "lost" -> at == null ? 0 : at.lost();
            case "marked" -> at == null ? 0 : at.marked();
            case "pauses" -> at == null ? 0 : at.pauses();
            default -> -1;
          };
      if (count >= 0) {
        counters.put(metric, Quantity.count(count));
      }
    }
    return counters;
  }

  private PointFailure failure(String code, String what, String effect) {
    return new PointFailure(
        PointFailure.Kind.FAILED, Problem.of(code, point.id(), what).effect(effect));
  }
}
