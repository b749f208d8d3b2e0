package dev.doorbell.experiments.scenario.transfer;

import dev.doorbell.core.fabric.timed.FabricCounters;
import dev.doorbell.core.fabric.timed.machine.Topology;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.experiments.config.kernel.KernelExtension.KernelMetric;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.plan.PointFailure;
import dev.doorbell.experiments.plan.Prediction;
import dev.doorbell.experiments.plan.Quantity;
import dev.doorbell.experiments.plan.Samples;
import dev.doorbell.experiments.plan.Timeline;
import dev.doorbell.experiments.scenario.kernel.Protocol;
import dev.doorbell.experiments.scenario.kernel.Protocols;
import dev.doorbell.experiments.scenario.kernel.RankBuffers;
import dev.doorbell.experiments.scenario.kind.Checks;
import dev.doorbell.experiments.scenario.kind.ExperimentKind;
import dev.doorbell.experiments.scenario.kind.PointRun;
import dev.doorbell.experiments.scenario.kind.ProtocolTrial;
import dev.doorbell.experiments.scenario.kind.QueueSettings.Dma;
import dev.doorbell.experiments.scenario.world.ExecutionBackend;
import dev.doorbell.experiments.scenario.world.World;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.DoubleStream;
import org.jspecify.annotations.Nullable;

/**
 * Kernels put messages from one rank to another: a ping-pong for latency, then a window of messages
 * for goodput, each in a world of its own, each byte at the target compared. Applies to every point
 * that no other kind takes.
 */
public final class TransferKind extends ExperimentKind<TransferSettings> {
  /** Virtual time after which a kernel is stopped. */
  private static final long KERNEL_NANOS = 2_000_000_000L;

  /**
   * On the wall's clock. The first thousand exchanges with hardware wait for a JVM that is not warm
   * yet; a mebibyte that 512 threads of the VM stage takes the host seconds.
   */
  private static final long KERNEL_NANOS_OF_WALL = 20_000_000_000L;

  /** Virtual time after which a device-side wait ends. */
  private static final long DEADLINE_NANOS = 500_000_000L;

  /** On a real HCA, whose response times are not known in advance. */
  private static final long DEADLINE_NANOS_ON_HCA = 10_000_000_000L;

  /**
   * First retransmission under faults, as of HCAs with adaptive retransmission: the default timeout
   * of 4.3 s is longer than kernels wait.
   */
  private static final long FIRST_RETRY_NANOS = 1_000_000;

  private static final int MESSAGES_ON_GPU = 1 << 15;

  /** Messages for queue pairs whose memory is reached through a mover: tens of us each. */
  private static final int MESSAGES_THROUGH_A_MOVER = 1 << 13;

  private static final long BYTES_ON_GPU = 1L << 30;

  private Protocols protocols = Protocols.ofCatalogue();

  public TransferKind() {
    super("kernel: [put_latency, put_bandwidth]", "DB-P016", TransferSettings.class);
  }

  @Override
  public boolean applies(Point point) {
    return true;
  }

  @Override
  protected boolean takesTheRest() {
    return true;
  }

  @Override
  protected void use(Protocols offered) {
    protocols = offered;
  }

  @Override
  public boolean measures(Point point, String metric) {
    return super.measures(point, metric) || protocols.brought(point).contains(metric);
  }

  @Override
  protected boolean takesAnyQueues() {
    return true;
  }

  @Override
  protected void check(TransferSettings of, Checks checks) {
    of.signal().check(of.queues().nic(), checks);
    TransferChecks.checkQueues(of, of.queues().nic().adapter(), checks.code("DB-P022"));
    TransferChecks.check(of, protocols, checks);
  }

  @Override
  protected Map<String, Integer> numbers(TransferSettings of) {
    return Map.of("slot", of.slotBytes());
  }

  @Override
  protected void check(TransferSettings of, ExecutionBackend backend, Checks checks) {
    if (backend instanceof ExecutionBackend.Verbs verbs) {
      TransferChecks.check(of, verbs, checks.code("DB-P022"));
    }
  }

  /** The closed forms are of Doorbell's own protocols, and of payload in GPU memory. */
  @Override
  protected Prediction predict(TransferSettings of, Topology topology) {
    if (of.payload() != MemoryKind.DEVICE) {
      return Prediction.none();
    }
    Protocol pingPong = protocols.latency(of.point());
    Protocol streaming = protocols.goodput(of.point());
    return new Prediction(
        TransferPrediction.of(of, topology).terms().stream()
            .filter(
                term -> {
                  Protocol protocol = term.metric().equals("latency") ? pingPong : streaming;
                  return protocol != null && protocol.own() && !protocol.signals();
                })
            .toList());
  }

  /**
   * Runs one message of a point in virtual time.
   *
   * @param capture where its packets go, as pcapng; null for nowhere
   */
  public Timeline timeline(Point point, Topology topology, @Nullable Path capture)
      throws PointFailure {
    return new TracedTransfer(read(point), topology, protocols).run(capture);
  }

  @Override
  protected void measure(PointRun<TransferSettings> run) throws PointFailure {
    Protocol turns = protocols.turns(run.point());
    if (turns != null && protocols.wantsTurns(run.point())) {
      try (ProtocolTrial trial =
          trial(run, turns, 0, 0, run.point().samples(), run.point().warmup())) {
        run.perform(trial, kernelNanos(run));
        if (Protocols.wantsLatency(run.point())) {
          run.add(Samples.of("latency", "ns", trial.rank(0).samples()));
        }
        BroughtSamples brought = new BroughtSamples(run, turns);
        brought.take(trial);
        brought.addTo(run);
      }
    }
    Protocol streaming = protocols.goodput(run.point());
    if (streaming != null && protocols.wantsGoodput(run.point())) {
      goodput(run, streaming);
    }
  }

  /** A batch is a sample: the streaming kernel stamps its start and its end only. */
  private static void goodput(PointRun<TransferSettings> run, Protocol protocol)
      throws PointFailure {
    double[] rates = new double[run.point().launches()];
    if (run.onGpu()) {
      // The HCA's code is compiled during the first run, which does not count.
      stream(run, protocol, rates.length, new BroughtSamples(run, protocol));
    }
    BroughtSamples brought = new BroughtSamples(run, protocol);
    for (int batch = 0; batch < rates.length; batch++) {
      rates[batch] = stream(run, protocol, batch, brought);
    }
    run.add(Samples.of("goodput", "GB/s", rates));
    brought.addTo(run);
  }

  private static double stream(
      PointRun<TransferSettings> run, Protocol protocol, int batch, BroughtSamples brought)
      throws PointFailure {
    TransferPlan plan = plan(run, protocol);
    int each = run.onGpu() ? messagesOnGpu(run.settings()) : plan.messages();
    int messages = each * plan.messagesPerIteration();
    try (ProtocolTrial trial = trial(run, protocol, batch + 1, 2 + batch, each, 0)) {
      Arrivals arrivals = new Arrivals();
      for (int rank = 0; rank < plan.ranks(); rank++) {
        long inbox = trial.rank(rank).target().address();
        trial.fabric().watch(inbox, arrivals.in(inbox, trial.rank(rank).bytes()));
      }
      FabricCounters before = run.traffic(trial.fabric());
      run.perform(trial, plan.kernelNanos());
      FabricCounters after = run.traffic(trial.fabric());
      if (batch == 0 && before != null && after != null) {
        count(run, after.minus(before), messages);
      }
      brought.take(trial);
      List<RankBuffers> senders = trial.senders();
      long started = senders.stream().mapToLong(RankBuffers::started).min().orElse(0);
      long ended = senders.stream().mapToLong(RankBuffers::ended).max().orElse(0);
      if (started == 0 || ended <= started) {
        throw run.failed(
            "DB-P006",
            "kernel %s left stamps of %d and %d ns".formatted(protocol.name(), started, ended),
            "there is no time to divide the bytes by");
      }
      double share = arrivals.steady().orElse(1.0 / (ended - started));
      return share * run.settings().size() * messages;
    }
  }

  private static void count(PointRun<TransferSettings> run, FabricCounters traffic, int messages) {
    double crossings = (double) traffic.payloadCrossings() / messages / run.settings().size();
    run.count("tlp.bytes", new Quantity((double) traffic.wireBytes() / messages, "B"));
    run.count("tlp.count", new Quantity((double) traffic.tlps() / messages, ""));
    run.count("link.crossings", new Quantity(crossings, ""));
    run.count("fences", new Quantity((double) traffic.fences() / messages, ""));
    run.count("fence.time", new Quantity(traffic.drainedNanos() / messages, "ns"));
  }

  private static int messagesOnGpu(TransferSettings of) {
    int messages = of.touchesGpu() ? MESSAGES_THROUGH_A_MOVER : MESSAGES_ON_GPU;
    long most = Math.min(messages, BYTES_ON_GPU / of.size()) / of.qps();
    return (int) Math.max(of.window(), most);
  }

  private static boolean onHca(PointRun<?> run) {
    return run.backend() instanceof ExecutionBackend.Verbs;
  }

  private static long kernelNanos(PointRun<?> run) {
    return run.backend() instanceof ExecutionBackend.Virtual ? KERNEL_NANOS : KERNEL_NANOS_OF_WALL;
  }

  private static TransferPlan plan(PointRun<TransferSettings> run, Protocol protocol) {
    long deadline = onHca(run) ? DEADLINE_NANOS_ON_HCA : DEADLINE_NANOS;
    return new TransferPlan(run.settings(), protocol, kernelNanos(run), deadline);
  }

  private static ProtocolTrial trial(
      PointRun<TransferSettings> run,
      Protocol protocol,
      int number,
      long salt,
      int iterations,
      int warmup)
      throws PointFailure {
    TransferPlan plan = plan(run, protocol);
    ProtocolTrial trial = plan.trial(world(run, plan, number), salt, iterations, warmup);
    if (run.settings().hasHostQueues()) {
      run.note("queues in host memory: the path's own placement");
    }
    String relayed = trial.connection().endpoints(0).getFirst().relayed();
    if (relayed != null) {
      run.note(relayed);
    }
    return trial;
  }

  private static World world(PointRun<TransferSettings> run, TransferPlan plan, int number)
      throws PointFailure {
    TransferSettings of = run.settings();
    boolean emulated =
        run.backend() instanceof ExecutionBackend.Virtual
            || run.backend() instanceof ExecutionBackend.Wall;
    if (emulated && of.dma() != Dma.COPY) {
      throw run.failed(
          "DB-P017",
          "dma is kernel, and an HCA reaches the memory of the PTX virtual machine by itself;"
              + " leave dma out, or use -s gpu=cuda:0");
    }
    World world =
        run.world()
            .ranks(plan.ranks())
            .mtu(of.queues().mtu())
            .seed(run.point().seed() + number)
            .payload(of.payload())
            .mover(of.dma().mover(run, of.touchesGpu()))
            .firstRetry(run.point().faults().faults().isEmpty() ? 0 : FIRST_RETRY_NANOS)
            .open();
    run.inject(world);
    return world;
  }

  /** Samples of the metrics that a kernel brings and a point asks for, trial after trial. */
  private static final class BroughtSamples {
    private final String kernel;
    private final Map<KernelMetric, double[]> taken = new LinkedHashMap<>();

    BroughtSamples(PointRun<?> run, Protocol protocol) {
      kernel = protocol.name();
      protocol.descriptor().extension().metrics().stream()
          .filter(metric -> run.asksFor(metric.name()))
          .forEach(metric -> taken.put(metric, new double[0]));
    }

    void take(ProtocolTrial trial) {
      taken.replaceAll(
          (metric, before) ->
              DoubleStream.concat(Arrays.stream(before), Arrays.stream(trial.samples(metric)))
                  .toArray());
    }

    void addTo(PointRun<?> run) throws PointFailure {
      for (Map.Entry<KernelMetric, double[]> entry : taken.entrySet()) {
        KernelMetric metric = entry.getKey();
        if (!Arrays.stream(entry.getValue()).allMatch(Double::isFinite)) {
          throw run.failed(
              "DB-P048",
              "kernel %s wrote a number of %s that is not finite".formatted(kernel, metric.name()));
        }
        run.add(Samples.of(metric.name(), metric.unit(), entry.getValue()));
      }
    }
  }
}
