package dev.doorbell.experiments.scenario.nic;

import dev.doorbell.core.Basis;
import dev.doorbell.core.fabric.timed.machine.Topology;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.plan.PointFailure;
import dev.doorbell.experiments.plan.Samples;
import dev.doorbell.experiments.scenario.kind.ExperimentKind;
import dev.doorbell.experiments.scenario.kind.PointRun;
import dev.doorbell.experiments.scenario.nic.NicShape.NicPath;
import dev.doorbell.experiments.scenario.nic.NicShape.Scale;
import dev.doorbell.experiments.scenario.world.ExecutionBackend;

/**
 * A GPU is the NIC of another one: messages one at a time for latency, then a stream of them for
 * goodput.
 */
public final class GpuNicKind extends ExperimentKind<GpuNicKind.Settings> {

  record Settings(Point point, NicShape shape) {}

  public GpuNicKind() {
    super("kernel: gpu_nic", "DB-P021", Settings.class);
  }

  @Override
  public boolean usesHca() {
    return false;
  }

  @Override
  protected void measure(PointRun<Settings> run) throws PointFailure {
    if (run.backend() instanceof ExecutionBackend.Virtual && !hasTwoGpus(run.topology())) {
      throw run.waived(
          "DB-P022",
          "placement %s has no two GPUs with a path between them".formatted(run.topology().name()),
          "use placement: two-gpus, or clock: wall");
    }
    if (run.onGpu()) {
      run.basis(Basis.MEASURED);
    }
    Scale scale = run.onGpu() ? Scale.REAL : Scale.EMULATED;
    NicShape shape = run.settings().shape;
    try (GpuPair gpus = GpuPair.of(run.backend(), run.topology(), run.point().seed())) {
      for (String metric : run.point().metrics()) {
        run.add(
            metric.equals("latency")
                ? latency(run, gpus, shape.single(), scale)
                : goodput(run, gpus, shape, scale));
      }
    }
  }

  private static boolean hasTwoGpus(Topology topology) {
    return topology.has(Locus.Part.GPU, GpuPair.NIC.index())
        && topology.pathBetween(Topology.component(GpuPair.SENDER), Topology.component(GpuPair.NIC))
            != null;
  }

  private static Samples latency(PointRun<Settings> run, GpuPair gpus, NicShape shape, Scale scale)
      throws PointFailure {
    Point point = run.point();
    String kernel = shape.path() == NicPath.PUSH_RING ? "push_quiet" : "put_quiet";
    NicRun.Load load = new NicRun.Load(kernel, point.samples(), point.warmup(), 1);
    try (NicRun trial = new NicRun(gpus, shape, scale, load, point.seed())) {
      run.perform(trial, scale.kernelNanos());
      return Samples.of("latency", "ns", trial.samples(point.samples()));
    }
  }

  /** One sample a trial, of which the first, whose messages differ, is not counted. */
  private static Samples goodput(PointRun<Settings> run, GpuPair gpus, NicShape shape, Scale scale)
      throws PointFailure {
    boolean ring = shape.path() == NicPath.PUSH_RING;
    String kernel = ring ? "push_ring" : "put_bandwidth";
    int messages = share(scale.streamBytes(), shape, scale.fewest(), scale.most());
    int different = Math.min(messages, share(scale.distinctBytes(), shape, 1, scale.most()));
    double[] rates = new double[run.point().launches()];
    for (int batch = -1; batch < rates.length; batch++) {
      boolean counts = batch >= 0;
      // A ring's kernel has a message for each time, a queue pair's one for each producer.
      int sent = counts ? messages : different;
      int distinct = counts ? 1 : shape.producers() * (ring ? sent : 1);
      NicRun.Load load = new NicRun.Load(kernel, sent, 0, distinct);
      try (NicRun trial = new NicRun(gpus, shape, scale, load, run.point().seed() + batch)) {
        run.perform(trial, scale.kernelNanos());
        if (counts) {
          rates[batch] = rate(run, shape, trial.nanos(), messages);
        }
      }
    }
    return Samples.of("goodput", "GB/s", rates);
  }

  private static double rate(PointRun<Settings> run, NicShape shape, long nanos, int messages)
      throws PointFailure {
    if (nanos <= 0) {
      throw run.failed("DB-P006", "the kernel's stamps are %d ns apart".formatted(nanos));
    }
    return (double) shape.size() * messages * shape.producers() / nanos;
  }

  private static int share(long total, NicShape shape, int fewest, int most) {
    return Math.clamp(total / shape.size() / shape.producers(), fewest, most);
  }
}
