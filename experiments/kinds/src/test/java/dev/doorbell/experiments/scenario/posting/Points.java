package dev.doorbell.experiments.scenario.posting;

import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.plan.Environment;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.plan.PointResult;
import dev.doorbell.experiments.plan.Samples;
import dev.doorbell.experiments.scenario.PointBench;
import java.util.Arrays;
import java.util.List;

/** Points of this package's families, made from a line of a config and run. */
final class Points {
  private final PointBench bench = new PointBench();

  /** The only point of a config with these kernels, metrics and settings. */
  static Point point(String kernels, String metrics, String... settings) throws Exception {
    String[] axes = {
      Arrays.stream(settings).filter(one -> one.startsWith("size=")).findFirst().orElse("size=64")
    };
    StringBuilder fixed = new StringBuilder("fixed:\n");
    if (Arrays.stream(settings).noneMatch(one -> one.startsWith("placement="))) {
      fixed.append("  placement: same-switch\n");
    }
    for (String setting : settings) {
      if (setting.startsWith("size=")) {
        continue;
      }
      fixed.append("  ").append(setting.replace("=", ": ")).append('\n');
    }
    return PointBench.point(
        axes,
        "kernel: [%s]".formatted(kernels),
        fixed.toString(),
        "measure: { metrics: [%s], warmup: 1, samples: 3 }".formatted(metrics));
  }

  List<String> problems(Point point) {
    return bench.runtime().check(point).stream().map(Problem::what).toList();
  }

  /** What of a point the PTX virtual machine cannot do on that clock. */
  List<String> problems(Point point, String clock) throws Exception {
    Environment environment =
        bench.runtime().choose(new Environment.Request("vm", "auto", clock), List.of(point));
    return bench.runtime().check(environment, point).stream().map(Problem::what).toList();
  }

  PointResult run(Point point, String clock) throws Exception {
    return bench.run(point, "auto", clock);
  }

  PointResult run(Point point) throws Exception {
    return run(point, "virtual");
  }

  /** The greatest sample of a metric. */
  static double most(PointResult result, String metric) {
    double most = Double.NEGATIVE_INFINITY;
    for (double value : samples(result, metric).values()) {
      most = Math.max(most, value);
    }
    return most;
  }

  static Samples samples(PointResult result, String metric) {
    return result.samples().stream()
        .filter(one -> one.metric().equals(metric))
        .findFirst()
        .orElseThrow();
  }
}
