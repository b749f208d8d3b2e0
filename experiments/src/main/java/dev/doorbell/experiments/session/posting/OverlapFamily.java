package dev.doorbell.experiments.session.posting;

import dev.doorbell.core.fabric.timed.Topology;
import dev.doorbell.experiments.config.Problem;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.plan.PointContext;
import dev.doorbell.experiments.plan.PointFailure;
import dev.doorbell.experiments.plan.PointResult;
import dev.doorbell.experiments.plan.Prediction;
import dev.doorbell.experiments.session.family.PointFamily;
import dev.doorbell.experiments.session.family.Substrate;
import java.util.List;
import java.util.Set;

/** Points in which some blocks of a grid communicate while the others compute. */
public final class OverlapFamily implements PointFamily {
  static final String KERNEL = "put_overlap";

  private static final Set<String> SETTINGS =
      Set.of(
          "sq",
          "cq",
          "record",
          "threads",
          "blocks",
          "qps",
          "depth",
          "mtu",
          "posting",
          "ringing",
          "fence",
          "payload",
          "mover",
          "proxies",
          "communicating",
          "work");
  private static final Set<String> METRICS =
      Set.of("overlap", "computing", "communicating", "together");
  private static final long NANOS_A_SAMPLE = 300_000_000L;

  @Override
  public String asked() {
    return "kernel: " + KERNEL;
  }

  @Override
  public boolean takes(Point point) {
    return point.kernels().contains(KERNEL);
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
    if (point.kernels().size() > 1) {
      problems.add(
          Problem.of("DB-P026", point.id(), "put_overlap beside other kernels")
              .fix("give it an experiment of its own"));
    }
    if (point.whole("communicating") >= point.whole("blocks")) {
      problems.add(
          Problem.of("DB-P026", point.id(), "no block is left to compute")
              .fix("use fewer communicating blocks than blocks"));
    }
  }

  @Override
  public PointResult run(Point point, PointContext context, Topology topology, Substrate substrate)
      throws PointFailure {
    return new OverlapPoint(point, context, topology, substrate).run();
  }

  @Override
  public Prediction predict(Point point, Topology topology) {
    return Prediction.none();
  }

  @Override
  public long estimateNanos(Point point) {
    return NANOS_A_SAMPLE * point.samples();
  }
}
