package dev.doorbell.experiments.scenario.posting;

import dev.doorbell.core.fabric.timed.machine.Topology;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.plan.PointContext;
import dev.doorbell.experiments.plan.PointFailure;
import dev.doorbell.experiments.plan.PointResult;
import dev.doorbell.experiments.plan.Prediction;
import dev.doorbell.experiments.scenario.kind.PointFamily;
import dev.doorbell.experiments.scenario.world.ExecutionBackend;
import java.util.Collections;
import java.util.List;
import java.util.Set;

/** Points that ask what posting costs: puts a second, the time of a put, the time until done. */
public final class PostingFamily implements PointFamily {
  static final String RATE = "rate";
  static final String POST = "post";
  static final String DONE = "done";

  /** The kernel that measures the rate, and the one that measures the times. */
  static final String RATE_KERNEL = "put_rate";

  static final String PRICE_KERNEL = "put_price";

  private static final Set<String> OWN = Set.of(RATE, POST, DONE);
  private static final Set<String> METRICS =
      Set.of(RATE, POST, DONE, "goodput", "fences", "tlp.bytes");
  private static final Set<String> SETTINGS =
      Set.of(
          "path",
          "sq",
          "cq",
          "record",
          "scope",
          "threads",
          "blocks",
          "qps",
          "depth",
          "mtu",
          "batch",
          "posting",
          "ringing",
          "fence",
          "exclusive",
          "payload",
          "dma",
          "proxies");
  private static final Set<String> PATHS = Set.of("pull", "push.inline");
  private static final int MOST_INLINE = 220;
  private static final int MOST_THREADS = 1 << 16;
  private static final long MOST_BYTES = 256L << 20;
  private static final int WARP = 32;
  private static final long NANOS_A_POINT = 300_000_000L;
  private static final long NANOS_A_THREAD = 500_000L;

  @Override
  public String asked() {
    return "metrics: [rate, post, done]";
  }

  @Override
  public boolean takes(Point point) {
    return !Collections.disjoint(point.metrics(), OWN);
  }

  @Override
  public Set<String> settings() {
    return SETTINGS;
  }

  @Override
  public Set<String> metrics() {
    return METRICS;
  }

  @Override
  public void check(Point point, Topology topology, List<Problem> problems) {
    checkKernels(point, problems);
    long threads = point.whole("blocks") * point.whole("threads");
    String path = point.text("path");
    if (!PATHS.contains(path)) {
      refuse(point, problems, "path " + path, "use pull or push.inline; ringing: blueflame");
    }
    if (path.equals("push.inline") && point.whole("size") > MOST_INLINE) {
      refuse(point, problems, "more than 220 bytes inline", "use path: pull");
    }
    if (threads > MOST_THREADS || threads * point.whole("size") > MOST_BYTES) {
      refuse(
          point,
          problems,
          "%d threads with messages of %d bytes".formatted(threads, point.whole("size")),
          "use at most 65536 threads, and 256 MiB of messages");
    }
    if (point.text("scope").equals("block")) {
      refuse(point, problems, "scope block", "use thread or warp");
    }
    if (point.text("scope").equals("warp") && point.whole("depth") < WARP) {
      refuse(point, problems, "a warp in a ring of fewer blocks than lanes", "use depth: 32");
    }
    if (point.flag("exclusive") && posters(point) > point.whole("qps")) {
      refuse(
          point,
          problems,
          "%d posters on %d exclusive queue pairs".formatted(posters(point), point.whole("qps")),
          "use exclusive: false, or a queue pair for each");
    }
    boolean direct = point.text("posting").equals("direct");
    if (!direct && !point.text("ringing").equals("record-first")) {
      refuse(point, problems, "the CPU rings in its own way", "leave ringing out");
    }
    if (direct && point.whole("proxies") > 1) {
      refuse(point, problems, "CPU threads without work", "use posting: proxy or cpu-rung");
    }
  }

  private static long posters(Point point) {
    long threads = point.whole("threads");
    return point.whole("blocks")
        * (point.text("scope").equals("warp") ? (threads + WARP - 1) / WARP : threads);
  }

  private static void checkKernels(Point point, List<Problem> problems) {
    for (String metric : point.metrics()) {
      boolean timed = metric.equals(POST) || metric.equals(DONE);
      String kernel = timed ? PRICE_KERNEL : RATE_KERNEL;
      if (!point.kernels().contains(kernel)) {
        refuse(
            point, problems, "%s is measured by %s".formatted(metric, kernel), "kernel: " + kernel);
      }
    }
  }

  private static void refuse(Point point, List<Problem> problems, String what, String fix) {
    problems.add(Problem.of("DB-P026", point.id(), what).fix(fix));
  }

  @Override
  public PointResult run(
      Point point, PointContext context, Topology topology, ExecutionBackend backend)
      throws PointFailure {
    return new PostingPoint(point, context, topology, backend).run();
  }

  @Override
  public Prediction predict(Point point, Topology topology) {
    return Prediction.none();
  }

  @Override
  public long estimateNanos(Point point) {
    return NANOS_A_POINT + NANOS_A_THREAD * point.whole("blocks") * point.whole("threads");
  }
}
