package dev.doorbell.experiments.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.experiments.config.ConfigReader;
import dev.doorbell.experiments.config.schema.Vocabulary;
import dev.doorbell.experiments.plan.Environment;
import dev.doorbell.experiments.plan.FaultTally;
import dev.doorbell.experiments.plan.Plan;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.plan.PointContext;
import dev.doorbell.experiments.plan.PointResult;
import dev.doorbell.experiments.plan.Quantity;
import java.util.ArrayList;
import java.util.List;

/** Runs points as a run does, without its folder, and keeps what they tell of their faults. */
public final class PointBench implements PointContext {
  private final SessionRuntime runtime = new SessionRuntime();
  private final List<FaultTally> tallies = new ArrayList<>();

  /** All points of a config. */
  public static List<Point> points(String config, String... settings) throws ConfigException {
    return Plan.of(
            new ConfigReader(Vocabulary.anything()).read("test.yaml", config, List.of(settings)))
        .points();
  }

  /**
   * The only point of a config.
   *
   * @param settings {@code name=value} each
   * @param lines what else the config says: kernel, measure, faults
   */
  public static Point point(String[] settings, String... lines) throws ConfigException {
    StringBuilder config = new StringBuilder("experiment: test\nquestion: Which?\naxes:\n");
    for (String setting : settings) {
      config.append("  ").append(setting.replace("=", ": ")).append('\n');
    }
    return points(config + String.join("\n", lines)).getFirst();
  }

  public SessionRuntime runtime() {
    return runtime;
  }

  /** In virtual time. */
  public PointResult run(Point point) throws Exception {
    return run(point, "auto", "virtual");
  }

  /** On the GPU and the clock that a user would name so. */
  public PointResult run(Point point, String gpu, String clock) throws Exception {
    assertThat(runtime.check(point)).isEmpty();
    tallies.clear();
    Environment.Request request = new Environment.Request(gpu, "auto", clock);
    return runtime.runner(runtime.choose(request, List.of(point))).run(point, this);
  }

  /** Of the last run. */
  public List<FaultTally> tallies() {
    return List.copyOf(tallies);
  }

  /** The value of a counter that the result must have. */
  public static double counted(PointResult result, String counter) {
    Quantity quantity = result.counters().get(counter);
    assertThat(quantity).as(counter).isNotNull();
    return quantity == null ? Double.NaN : quantity.value();
  }

  @Override
  public boolean cancelled() {
    return false;
  }

  @Override
  public void log(String line) {}

  @Override
  public void faults(List<FaultTally> told) {
    tallies.addAll(told);
  }
}
