package dev.doorbell.experiments.scenario.transfer;

import dev.doorbell.core.fabric.timed.machine.Topology;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.plan.PointContext;
import dev.doorbell.experiments.plan.PointFailure;
import dev.doorbell.experiments.plan.PointResult;
import dev.doorbell.experiments.plan.Prediction;
import dev.doorbell.experiments.scenario.kind.PointFamily;
import dev.doorbell.experiments.scenario.world.ExecutionBackend;
import java.util.List;
import java.util.Set;

/** Points in which each of several ranks sends to every other one. */
public final class AllToAllFamily implements PointFamily {
  static final String DISPATCH = "dispatch";
  static final String GOODPUT = "goodput";

  private static final String KERNEL = "put_bandwidth";
  private static final Set<String> SETTINGS =
      Set.of("path", "ranks", "messages", "sq", "cq", "record", "depth", "window", "mtu");
  private static final Set<String> METRICS = Set.of(DISPATCH, GOODPUT);
  private static final Set<String> PATHS = Set.of("pull", "pull.bf", "push.inline", "push.bf");
  private static final int MOST_INLINE = 220;
  private static final int MOST_BYTES = 1 << 20;
  private static final long NANOS_A_POINT = 200_000_000L;
  private static final long NANOS_A_MESSAGE = 1_500_000;

  @Override
  public String asked() {
    return "metrics: [dispatch]";
  }

  @Override
  public boolean takes(Point point) {
    return point.metrics().contains(DISPATCH);
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
    if (!point.kernels().equals(List.of(KERNEL))) {
      problems.add(
          Problem.of("DB-P029", point.id(), "an all-to-all is posted by one kernel")
              .fix("kernel: " + KERNEL));
    }
    String path = point.text("path");
    if (!PATHS.contains(path)) {
      problems.add(
          Problem.of("DB-P029", point.id(), "path %s in an all-to-all".formatted(path))
              .effect("ranks have neither a staging area nor a proxy for each peer")
              .fix("use pull, pull.bf, push.inline or push.bf"));
    }
    long size = point.whole("size");
    if (size > MOST_BYTES || (path.startsWith("push") && size > MOST_INLINE)) {
      problems.add(
          Problem.of("DB-P029", point.id(), "a message of %d bytes by %s".formatted(size, path))
              .fix("use at most 1 MiB, and 220 bytes inline"));
    }
  }

  @Override
  public PointResult run(
      Point point, PointContext context, Topology topology, ExecutionBackend backend)
      throws PointFailure {
    if (!(backend instanceof ExecutionBackend.Virtual)) {
      throw new PointFailure(
          PointFailure.Kind.WAIVED,
          Problem.of("DB-P029", point.id(), "an all-to-all of kernels runs in virtual time")
              .fix("use clock: virtual; doorbell hca alltoall runs one of processes"));
    }
    return new AllToAllPoint(point, context, topology).run();
  }

  @Override
  public Prediction predict(Point point, Topology topology) {
    return new Prediction(
        List.of(
            new Prediction.Term(
                GOODPUT,
                topology.network().bytesPerNano() * point.whole("ranks"),
                "GB/s",
                "n C, the ports of all ranks",
                true)));
  }

  @Override
  public long estimateNanos(Point point) {
    long ranks = point.whole("ranks");
    return NANOS_A_POINT
        + NANOS_A_MESSAGE * ranks * (ranks - 1) * point.whole("messages") * point.samples();
  }
}
