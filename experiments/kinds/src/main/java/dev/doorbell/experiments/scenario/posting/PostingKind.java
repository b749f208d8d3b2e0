package dev.doorbell.experiments.scenario.posting;

import dev.doorbell.core.fabric.timed.FabricCounters;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.queue.JobView;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.plan.PointFailure;
import dev.doorbell.experiments.plan.Quantity;
import dev.doorbell.experiments.plan.Samples;
import dev.doorbell.experiments.scenario.kernel.KernelJob;
import dev.doorbell.experiments.scenario.kernel.TransferPath;
import dev.doorbell.experiments.scenario.kind.Checks;
import dev.doorbell.experiments.scenario.kind.ExperimentKind;
import dev.doorbell.experiments.scenario.kind.PointRun;
import dev.doorbell.experiments.scenario.kind.QueueSettings.Scope;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Cost of posting: launches of put_rate for puts per second, one of put_price for the time of a put
 * and the time until it is done; or both of put_light, or of put_exclusive.
 */
public final class PostingKind extends ExperimentKind<PostingKind.Settings> {
  private static final String RATE = "rate";
  private static final String POST = "post";
  private static final String DONE = "done";
  private static final String LOOK = "look";
  private static final String GOODPUT = "goodput";
  private static final Set<String> TIMES = Set.of(POST, DONE, LOOK);
  private static final String RATE_KERNEL = "put_rate";
  private static final String PRICE_KERNEL = "put_price";
  private static final String LIGHT_KERNEL = "put_light";
  private static final String EXCLUSIVE_KERNEL = "put_exclusive";
  private static final int WARP = 32;

  /** The HCA's code is compiled during the first launches, which do not count. */
  private static final int WARM_LAUNCHES_ON_GPU = 2;

  private static final int WARMUP_SHARE = 4;

  record Settings(
      Point point,
      PosterSettings posters,
      TransferPath path,
      Scope scope,
      int batch,
      boolean exclusive,
      int rest) {
    /** Threads that post by themselves, and warps that post together. */
    long postersOfGrid() {
      long threads = posters.threads();
      return posters.blocks() * (scope == Scope.WARP ? (threads + WARP - 1) / WARP : threads);
    }

    /** The kernel by a short path that measures every metric, or null. */
    @Nullable String shortPath() {
      return point.kernels().contains(LIGHT_KERNEL)
          ? LIGHT_KERNEL
          : point.kernels().contains(EXCLUSIVE_KERNEL) ? EXCLUSIVE_KERNEL : null;
    }

    String kernelOf(String metric) {
      String kernel = shortPath();
      return kernel != null ? kernel : TIMES.contains(metric) ? PRICE_KERNEL : RATE_KERNEL;
    }
  }

  public PostingKind() {
    super("metrics: [rate, post, done]", "DB-P026", Settings.class);
  }

  @Override
  public boolean applies(Point point) {
    return !Collections.disjoint(point.metrics(), Set.of(RATE, POST, DONE, LOOK));
  }

  @Override
  protected void check(Settings of, Checks checks) {
    for (String metric : of.point.metrics()) {
      String kernel = of.kernelOf(metric);
      checks.causeIf(
          !metric.equals(GOODPUT) && !of.point.kernels().contains(kernel),
          "%s is measured by %s, and kernel is %s"
              .formatted(metric, kernel, String.join(", ", of.point.kernels())),
          "an experiment that asks for it is about posting, whatever else it asks for",
          "kernel: %s, or leave %s out".formatted(kernel, metric));
      checks.refuseIf(
          !of.point.kernels().contains(kernel),
          "%s is measured by %s".formatted(metric, kernel),
          "kernel: " + kernel);
    }
    String shortPath = of.shortPath();
    if (shortPath != null) {
      checkShortPath(shortPath, of, checks);
    }
  }

  @Override
  protected Map<String, Long> numbers(Settings of) {
    return Map.of("posters", of.postersOfGrid());
  }

  private static void checkShortPath(String kernel, Settings of, Checks checks) {
    PosterSettings posters = of.posters;
    checks.refuseIf(!of.exclusive, kernel + " on a shared queue pair", "use exclusive: true");
    checks.refuseIf(
        of.path != TransferPath.PULL, kernel + " with path " + of.path.word(), "use pull");
    checks.refuseIf(of.scope == Scope.WARP, kernel + " with scope warp", "use thread");
    checks.refuseIf(
        posters.posting() != PosterSettings.Posting.DIRECT,
        kernel + " posts and rings by itself",
        "use posting: direct");
    switch (posters.ringing()) {
      case RECORD_FIRST, NO_RECORD -> {}
      case RECORD_LAST ->
          checks.refuseIf(
              kernel.equals(LIGHT_KERNEL),
              LIGHT_KERNEL + " rings once, after the record if there is one",
              "use ringing: record-first or no-record, or kernel: " + EXCLUSIVE_KERNEL);
      case BLUEFLAME ->
          checks.refuseIf(
              true,
              kernel + " rings by the doorbell alone",
              "use ringing: record-first or no-record");
    }
  }

  @Override
  protected void measure(PointRun<Settings> run) throws PointFailure {
    Settings of = run.settings();
    PosterSettings posters = of.posters;
    List<Samples> samples = new ArrayList<>();
    try (PutBench bench =
        new PutBench(
            run, posters, posters.endpoint(of.exclusive, of.batch), posters.allThreads())) {
      if (run.asksFor(RATE) || run.asksFor(GOODPUT)) {
        samples.addAll(rates(run, bench));
      }
      if (!Collections.disjoint(run.point().metrics(), TIMES)) {
        samples.addAll(times(run, bench));
      }
    }
    run.report(samples);
  }

  private static List<Samples> rates(PointRun<Settings> run, PutBench bench) throws PointFailure {
    PosterSettings posters = run.settings().posters;
    int threads = posters.allThreads();
    long each = posters.putsOfThread(threads, run.backend());
    long warmup = each / WARMUP_SHARE;
    long puts = each * threads;
    double[] rates = new double[run.point().launches()];
    KernelJob kernel = bench.kernel(run.settings().kernelOf(RATE));
    for (int launch = run.onGpu() ? -WARM_LAUNCHES_ON_GPU : 0; launch < rates.length; launch++) {
      FabricCounters before = run.traffic(bench.fabric());
      long nanos = launch(run, bench, kernel, job(run, bench, each, warmup));
      FabricCounters after = run.traffic(bench.fabric());
      if (launch == 0 && before != null && after != null) {
        count(run, after.minus(before), puts + threads * warmup);
      }
      if (launch >= 0) {
        rates[launch] = 1e3 * puts / nanos;
      }
    }
    double[] goodputs = Arrays.stream(rates).map(rate -> rate * (posters.size() * 1e-3)).toArray();
    return List.of(Samples.of(RATE, "M/s", rates), Samples.of(GOODPUT, "GB/s", goodputs));
  }

  private static List<Samples> times(PointRun<Settings> run, PutBench bench) throws PointFailure {
    int count = run.point().samples();
    KernelJob kernel = bench.kernel(run.settings().kernelOf(POST));
    Memory memory = kernel.allocate(MemoryKind.DEVICE, 3L * Long.BYTES * count, "samples");
    JobView job = job(run, bench, count, run.point().warmup());
    job.samples = memory.address();
    job.chunkBytes = run.settings().rest;
    launch(run, bench, kernel, job);
    return List.of(
        Samples.of(POST, "ns", KernelJob.longs(memory, 0, count)),
        Samples.of(DONE, "ns", KernelJob.longs(memory, count, count)),
        Samples.of(LOOK, "ns", KernelJob.longs(memory, 2 * count, count)));
  }

  private static JobView job(PointRun<Settings> run, PutBench bench, long iterations, long warmup) {
    Settings of = run.settings();
    JobView job = bench.job(iterations, warmup);
    job.opcode = of.path == TransferPath.PUSH_INLINE ? JobView.OP_PUT_INLINE : JobView.OP_PUT;
    job.scope = of.scope == Scope.WARP ? JobView.SCOPE_WARP : JobView.SCOPE_THREAD;
    return job;
  }

  private static long launch(PointRun<Settings> run, PutBench bench, KernelJob kernel, JobView job)
      throws PointFailure {
    PosterSettings posters = run.settings().posters;
    long before = bench.completedBlocks();
    boolean counts =
        posters.posting() != PosterSettings.Posting.PROXY && job.opcode == JobView.OP_PUT;
    return bench.launch(
        kernel,
        job,
        true,
        () -> {
          long completed = bench.completedBlocks() - before;
          long expected = (job.iterations + job.warmup) * posters.allThreads();
          return counts && completed != expected
              ? "%d puts completed instead of %d".formatted(completed, expected)
              : null;
        });
  }

  private static void count(PointRun<Settings> run, FabricCounters traffic, long puts) {
    run.count("fences", new Quantity((double) traffic.fences() / puts, ""));
    run.count("tlp.bytes", new Quantity((double) traffic.wireBytes() / puts, "B"));
  }
}
