package dev.doorbell.experiments.session.posting;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.experiments.config.ConfigReader;
import dev.doorbell.experiments.config.Problem;
import dev.doorbell.experiments.config.Vocabulary;
import dev.doorbell.experiments.plan.Environment;
import dev.doorbell.experiments.plan.Plan;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.plan.PointContext;
import dev.doorbell.experiments.plan.PointResult;
import dev.doorbell.experiments.plan.Samples;
import dev.doorbell.experiments.session.SessionRuntime;
import java.util.List;

/** Points of this package's families, made from a line of a config and run. */
final class Points {
  private static final PointContext QUIET =
      new PointContext() {
        @Override
        public boolean cancelled() {
          return false;
        }

        @Override
        public void log(String line) {}
      };

  private final SessionRuntime runtime = new SessionRuntime();

  /** The only point of a config with these kernels, metrics and settings. */
  static Point point(String kernels, String metrics, String... settings) throws Exception {
    StringBuilder config =
        new StringBuilder(
            "experiment: posting\nquestion: Which?\nkernel: [%s]\naxes:\n  size: 64\nfixed:\n"
                .formatted(kernels));
    config.append("  placement: same-switch\n");
    for (String setting : settings) {
      config.append("  ").append(setting.replace("=", ": ")).append('\n');
    }
    config.append("measure: { metrics: [").append(metrics).append("], warmup: 1, samples: 3 }\n");
    return Plan.of(
            new ConfigReader(Vocabulary.anything())
                .read("posting.yaml", config.toString(), List.of()))
        .points()
        .getFirst();
  }

  List<String> problems(Point point) {
    return runtime.check(point).stream().map(Problem::what).toList();
  }

  /** What of a point the PTX virtual machine cannot do on that clock. */
  List<String> problems(Point point, String clock) throws Exception {
    Environment environment =
        runtime.choose(new Environment.Wish("vm", "auto", clock), List.of(point));
    return runtime.check(environment, point).stream().map(Problem::what).toList();
  }

  PointResult run(Point point, String clock) throws Exception {
    assertThat(runtime.check(point)).isEmpty();
    return runtime
        .runner(runtime.choose(new Environment.Wish("auto", "auto", clock), List.of(point)))
        .run(point, QUIET);
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
