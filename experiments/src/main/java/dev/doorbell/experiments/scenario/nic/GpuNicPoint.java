package dev.doorbell.experiments.scenario.nic;

import dev.doorbell.core.Basis;
import dev.doorbell.core.fabric.RunOutcome;
import dev.doorbell.core.fabric.timed.TimedFabric;
import dev.doorbell.core.fabric.timed.machine.Topology;
import dev.doorbell.core.gpu.GpuException;
import dev.doorbell.core.gpu.Launch;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.plan.PointContext;
import dev.doorbell.experiments.plan.PointFailure;
import dev.doorbell.experiments.plan.PointResult;
import dev.doorbell.experiments.plan.Samples;
import dev.doorbell.experiments.scenario.world.ExecutionBackend;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;

/**
 * One point of an experiment with a GPU as the NIC of another one: messages one at a time for
 * latency, then a stream of them for goodput.
 */
final class GpuNicPoint {
  /** How much of it a backend can do in a moment. */
  private enum Scale {
    /** Kernels are emulated. */
    SMALL(64, 20_000_000_000L, 2_000_000_000L, 3, 8, 64, 64 << 10, 64 << 10),
    /** Two real GPUs. */
    FULL(512, 10_000_000_000L, 2_000_000_000L, 7, 128, 16_384, 512 << 20, 256 << 20);

    final int mostThreads;
    final long kernelNanos;
    final long deadlineNanos;
    final int batches;
    final int fewest;
    final int most;
    final long streamBytes;
    final long distinctBytes;

    Scale(
        int mostThreads,
        long kernelNanos,
        long deadlineNanos,
        int batches,
        int fewest,
        int most,
        long streamBytes,
        long distinctBytes) {
      this.mostThreads = mostThreads;
      this.kernelNanos = kernelNanos;
      this.deadlineNanos = deadlineNanos;
      this.batches = batches;
      this.fewest = fewest;
      this.most = most;
      this.streamBytes = streamBytes;
      this.distinctBytes = distinctBytes;
    }
  }

  private static final long SLICE_NANOS = 200_000;

  private final Point point;
  private final PointContext context;
  private final Topology topology;
  private final ExecutionBackend backend;
  private final Scale scale;
  private final NicShape shape;
  private long verified;

  GpuNicPoint(Point point, PointContext context, Topology topology, ExecutionBackend backend) {
    this.point = point;
    this.context = context;
    this.topology = topology;
    this.backend = backend;
    this.scale = backend instanceof ExecutionBackend.Cuda ? Scale.FULL : Scale.SMALL;
    this.shape = NicShape.of(point, scale.mostThreads, scale.deadlineNanos);
  }

  PointResult run() throws PointFailure {
    List<Samples> samples = new ArrayList<>();
    try (GpuPair gpus = GpuPair.of(backend, topology, point.seed());
        NicKernels sender = new NicKernels(gpus.sender());
        NicKernels nic = new NicKernels(gpus.nic())) {
      for (String metric : point.metrics()) {
        samples.add(
            metric.equals("latency") ? latency(gpus, sender, nic) : goodput(gpus, sender, nic));
      }
    } catch (GpuException e) {
      throw failure(PointFailure.Kind.FAILED, "DB-P001", String.valueOf(e.getMessage()));
    }
    return new PointResult(basis(), samples, new LinkedHashMap<>(), verified, List.of());
  }

  /** Both GPUs are real, and nothing else has a part in it. */
  private Basis basis() {
    return backend instanceof ExecutionBackend.Cuda ? Basis.MEASURED : backend.basis();
  }

  private Samples latency(GpuPair gpus, NicKernels sender, NicKernels nic) throws PointFailure {
    NicShape single = shape.single();
    String kernel = shape.path() == NicPath.RING ? "push_quiet" : "put_quiet";
    NicRun.Load load = new NicRun.Load(kernel, point.samples(), point.warmup(), 1);
    try (NicRun run = new NicRun(gpus, single, load, point.seed())) {
      finish(gpus, run, load, sender, nic);
      return Samples.of("latency", "ns", run.samples(point.samples()));
    }
  }

  /** One sample a run, of which the first, whose messages differ, is not counted. */
  private Samples goodput(GpuPair gpus, NicKernels sender, NicKernels nic) throws PointFailure {
    boolean ring = shape.path() == NicPath.RING;
    String kernel = ring ? "push_ring" : "put_bandwidth";
    int messages = messages(scale.streamBytes);
    int batches = Math.min(scale.batches, point.samples());
    double[] rates = new double[batches];
    for (int batch = -1; batch < batches; batch++) {
      boolean counts = batch >= 0;
      // A ring's kernel has a message for each time, a queue pair's one for each producer.
      int sent = counts ? messages : Math.min(messages, distinct());
      int distinct = counts ? 1 : shape.producers() * (ring ? sent : 1);
      NicRun.Load load = new NicRun.Load(kernel, sent, 0, distinct);
      try (NicRun run = new NicRun(gpus, shape, load, point.seed() + batch)) {
        finish(gpus, run, load, sender, nic);
        if (counts) {
          rates[batch] = rate(run, messages);
        }
      }
    }
    return Samples.of("goodput", "GB/s", rates);
  }

  private double rate(NicRun run, int messages) throws PointFailure {
    long nanos = run.nanos();
    if (nanos <= 0) {
      throw failure(
          PointFailure.Kind.FAILED,
          "DB-P006",
          "the kernel's stamps are %d ns apart".formatted(nanos));
    }
    return (double) shape.bytes() * messages * shape.producers() / nanos;
  }

  /** Messages of each producer, all different, that there is room for. */
  private int distinct() {
    return Math.clamp(scale.distinctBytes / shape.bytes() / shape.producers(), 1, scale.most);
  }

  /** Messages of each producer that make {@code total} bytes. */
  private int messages(long total) {
    return Math.clamp(total / shape.bytes() / shape.producers(), scale.fewest, scale.most);
  }

  private void finish(GpuPair gpus, NicRun run, NicRun.Load load, NicKernels sender, NicKernels nic)
      throws PointFailure {
    List<Launch> launches = run.start(sender, nic, load, scale.kernelNanos);
    await(gpus, launches);
    String firstError = run.firstError();
    if (firstError != null) {
      throw failure(PointFailure.Kind.FAILED, "DB-P001", firstError);
    }
    String mismatch = run.mismatch();
    if (mismatch != null) {
      throw failure(PointFailure.Kind.MISMATCH, "DB-P002", mismatch);
    }
    verified += run.verified();
  }

  private void await(GpuPair gpus, List<Launch> launches) throws PointFailure {
    long left = scale.kernelNanos;
    while (left > 0) {
      RunOutcome outcome = gpus.fabric().run(() -> allDone(launches), SLICE_NANOS);
      if (outcome == RunOutcome.DONE) {
        break;
      }
      if (outcome == RunOutcome.STALLED) {
        String waiting =
            gpus.fabric() instanceof TimedFabric timed
                ? ": " + String.join("; ", timed.waiting())
                : "";
        throw failure(PointFailure.Kind.FAILED, "DB-P003", "nothing can happen any more" + waiting);
      }
      if (context.cancelled()) {
        launches.forEach(launch -> launch.cancel("interrupted"));
        throw failure(PointFailure.Kind.CANCELLED, "DB-P004", "interrupted");
      }
      left -= SLICE_NANOS;
    }
    if (left <= 0) {
      launches.forEach(launch -> launch.cancel("the point's time was over"));
      throw failure(PointFailure.Kind.TIMEOUT, "DB-P005", "the kernels did not end");
    }
    launches.forEach(Launch::check);
    gpus.fabric().quiesce();
  }

  /** Asked after every event of the fabric, so it allocates nothing. */
  private static boolean allDone(List<Launch> launches) {
    for (int i = 0; i < launches.size(); i++) {
      if (!launches.get(i).done()) {
        return false;
      }
    }
    return true;
  }

  private PointFailure failure(PointFailure.Kind kind, String code, String what) {
    return new PointFailure(
        kind, Problem.of(code, point.id(), what).effect("the point has no result"));
  }
}
