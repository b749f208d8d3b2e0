package dev.doorbell.experiments.scenario.push;

import dev.doorbell.core.fabric.Fabric;
import dev.doorbell.core.fabric.timed.TimedFabric;
import dev.doorbell.core.fabric.timed.machine.Topology;
import dev.doorbell.core.gpu.Launch;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.queue.Abi;
import dev.doorbell.experiments.model.Bounds;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.plan.PointFailure;
import dev.doorbell.experiments.plan.Prediction;
import dev.doorbell.experiments.plan.Quantity;
import dev.doorbell.experiments.plan.Samples;
import dev.doorbell.experiments.scenario.kind.Checks;
import dev.doorbell.experiments.scenario.kind.ExperimentKind;
import dev.doorbell.experiments.scenario.kind.PointRun;
import dev.doorbell.experiments.scenario.kind.Trial;
import dev.doorbell.experiments.scenario.world.ExecutionBackend;
import dev.doorbell.experiments.scenario.world.Owned;
import dev.doorbell.ptxvm.launch.VmGpu;
import dev.doorbell.push.PushEvent;
import dev.doorbell.push.PushEvent.PushObserver;
import dev.doorbell.push.PushOptions;
import dev.doorbell.push.network.Network;
import dev.doorbell.push.network.SwitchedNetwork;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * One or more GPUs push messages into rings of on-chip memory, to one receiver, in virtual time.
 * Each event is held against the protocol's invariants, and each byte that was accepted is compared
 * at the target.
 */
public final class PushKind extends ExperimentKind<PushSettings> {
  private static final long KERNEL_NANOS = 20_000_000_000L;
  private static final long SLICE_NANOS = 1_000_000;

  public PushKind() {
    super("kernel: push_ring", "DB-P021", PushSettings.class);
  }

  @Override
  protected void check(PushSettings of, Checks checks) {
    for (String metric : of.point().metrics()) {
      boolean either = metric.equals("wait");
      checks.refuseIf(
          metrics().contains(metric) && !either && metric.equals("full") != of.random(),
          "%s is not measured with load %d".formatted(metric, of.load()),
          "random load measures full and wait; load 0 wait, goodput, stall, completion"
              + " and counters");
    }
  }

  /**
   * A message finds the ring full as an M/M/1/W queue loses it; and no more than a ring goes out in
   * a round trip where slots are kept until they are acknowledged.
   */
  @Override
  protected Prediction predict(PushSettings of, Topology topology) {
    if (of.random()) {
      return new Prediction(
          List.of(
              new Prediction.Term(
                  "full",
                  Bounds.ringFull(of.load() / 100.0, of.slots()),
                  "",
                  "P = (1 - rho) rho^W / (1 - rho^(W+1))",
                  false)));
    }
    if (of.rtt() == 0 || of.release() != PushOptions.Release.ACKNOWLEDGED) {
      return Prediction.none();
    }
    return new Prediction(
        List.of(
            new Prediction.Term(
                "goodput",
                Math.min(
                    topology.network().bytesPerNano(),
                    (double) of.slots() * of.size() * of.senders() / of.rtt()),
                "GB/s",
                "min(C, n W s / RTT)",
                true)));
  }

  @Override
  protected void measure(PointRun<PushSettings> run) throws PointFailure {
    if (!(run.backend() instanceof ExecutionBackend.Virtual)) {
      throw run.failed("DB-P022", "networks fill in virtual time alone", "use clock: virtual");
    }
    try (Incast incast = new Incast(run)) {
      run.perform(incast, KERNEL_NANOS);
      incast.measures.samples(incast.nodes).forEach(run::add);
      incast.count();
    }
  }

  private static final class Incast implements Trial, AutoCloseable {
    private final PointRun<PushSettings> run;
    private final PushSettings of;
    private final Owned open = new Owned();
    private final PushMeasures measures;
    private final TimedFabric fabric;
    private final Network network;
    private final Memory inbox;
    private final long share;
    private final List<PushNode> nodes = new ArrayList<>();

    Incast(PointRun<PushSettings> run) {
      this.run = run;
      this.of = run.settings();
      this.measures = new PushMeasures(of);
      this.fabric = open.add(new TimedFabric(run.topology(), run.point().seed()));
      this.network = of.network(fabric, run.topology(), open);
      PushTraffic traffic = of.traffic();
      PushNode receiver = node(of.senders(), 0);
      this.share = (long) traffic.total() * of.size();
      this.inbox = receiver.inbox(share * of.senders());
      for (int i = 0; i < of.senders(); i++) {
        PushNode node = node(i, i + 1);
        node.prepare(traffic, run.point().seed() + i);
        nodes.add(node);
      }
    }

    private PushNode node(int rank, int salt) {
      VmGpu gpu = open.add(new VmGpu(fabric, Locus.gpu(rank, 0)));
      PushOptions options = of.options(salt, run.topology());
      return open.add(new PushNode(fabric, gpu, network, options, measures));
    }

    @Override
    public Fabric fabric() {
      return fabric;
    }

    @Override
    public List<Supplier<Launch>> prepare() {
      List<Supplier<Launch>> starts = new ArrayList<>();
      for (int i = 0; i < nodes.size(); i++) {
        PushNode node = nodes.get(i);
        long target = inbox.address() + i * share;
        starts.add(() -> node.launch(target, KERNEL_NANOS));
      }
      return starts;
    }

    @Override
    public long sliceNanos() {
      return SLICE_NANOS;
    }

    @Override
    public @Nullable String firstError() {
      for (int i = 0; i < nodes.size(); i++) {
        int outcome = nodes.get(i).outcome();
        if (outcome != Abi.OK) {
          return "sender %d: %s; %s"
              .formatted(i, Abi.statusText(outcome), nodes.get(i).engine().state());
        }
      }
      return null;
    }

    @Override
    public @Nullable String mismatch() {
      for (int i = 0; i < nodes.size(); i++) {
        String wrong = nodes.get(i).mismatch(inbox, i * share);
        if (wrong != null) {
          return "sender %d: %s".formatted(i, wrong);
        }
      }
      return null;
    }

    @Override
    public long verifiedBytes() {
      return (long) measures.arrived * of.size();
    }

    void count() {
      SwitchedNetwork.@Nullable Counters at =
          network instanceof SwitchedNetwork made ? made.counters() : null;
      for (String metric : run.point().metrics()) {
        long count =
            switch (metric) {
              case "retransmitted" -> measures.retransmitted;
              case "pulled" -> measures.pulled;
              case "lost" -> at == null ? 0 : at.lost();
              case "marked" -> at == null ? 0 : at.marked();
              case "pauses" -> at == null ? 0 : at.pauses();
              default -> -1;
            };
        if (count >= 0) {
          run.count(metric, Quantity.count(count));
        }
      }
    }

    @Override
    public void close() {
      open.close();
    }
  }

  /**
   * The sampled metrics of a point: from the engines' events, and from what the senders' kernels
   * have left.
   */
  private static final class PushMeasures implements PushObserver {
    private static final int WARMUP_SHARE = 4;

    private final PushSettings of;
    private final Point point;

    /** When messages arrived, in nanoseconds. */
    private long[] arrivals = new long[1024];

    private int arrived;
    private long retransmitted;
    private long pulled;

    PushMeasures(PushSettings of) {
      this.of = of;
      this.point = of.point();
    }

    @Override
    public void happened(PushEvent event) {
      switch (event.kind()) {
        case DELIVERED -> {
          if (arrived == arrivals.length) {
            arrivals = Arrays.copyOf(arrivals, 2 * arrived);
          }
          arrivals[arrived++] = event.nanos();
        }
        case RETRANSMITTED -> retransmitted++;
        case PULLED -> pulled++;
        default -> {
          // Nothing is measured by it.
        }
      }
    }

    List<Samples> samples(List<PushNode> nodes) {
      List<Samples> all = new ArrayList<>();
      for (String metric : point.metrics()) {
        switch (metric) {
          case "full" -> all.add(Samples.of(metric, "", full(nodes.getFirst())));
          case "goodput" -> all.add(Samples.of(metric, "GB/s", goodput()));
          case "wait" ->
              all.add(
                  Samples.of(metric, "ns", nodes.stream().flatMapToLong(this::waits).toArray()));
          case "stall" ->
              all.add(
                  Samples.of(
                      metric,
                      "ns",
                      nodes.stream()
                          .mapToLong(node -> Arrays.stream(node.waits()).sum())
                          .toArray()));
          case "completion" ->
              all.add(
                  Samples.of(
                      metric,
                      "ns",
                      nodes.stream().mapToLong(node -> node.ended() - first(nodes)).toArray()));
          default -> {
            // counted
          }
        }
      }
      return all;
    }

    private static long first(List<PushNode> nodes) {
      return nodes.stream().mapToLong(PushNode::started).min().orElseThrow();
    }

    /** Times for which messages waited for room; of random times without those of the warm-up. */
    private LongStream waits(PushNode node) {
      int warmup = of.random() ? point.warmup() * PushSettings.BATCH_MESSAGES : 0;
      return Arrays.stream(node.waits()).skip(warmup).filter(wait -> wait >= 0);
    }

    /**
     * Rate of the last three quarters of all messages, as they arrive: the steady state. Whole
     * turns of the ring, where there are any: credits hold up bursts of the ring's size, and six
     * bursts with five pauses between them would look faster than they are.
     */
    private double goodput() {
      int steps = arrived - 1 - arrived / WARMUP_SHARE;
      int turn = Math.max(1, of.slots() * of.senders());
      int counted = steps < turn ? steps : steps - steps % turn;
      return (double) counted
          * of.size()
          / (arrivals[arrived - 1] - arrivals[arrived - 1 - counted]);
    }

    /**
     * For each batch the share of messages that found the ring full: they waited, or were dropped.
     */
    private double[] full(PushNode node) {
      long[] waits = node.waits();
      double[] shares = new double[point.samples()];
      for (int batch = 0; batch < shares.length; batch++) {
        int from = (point.warmup() + batch) * PushSettings.BATCH_MESSAGES;
        long full =
            Arrays.stream(waits, from, from + PushSettings.BATCH_MESSAGES)
                .filter(wait -> wait != 0)
                .count();
        shares[batch] = (double) full / PushSettings.BATCH_MESSAGES;
      }
      return shares;
    }
  }
}
