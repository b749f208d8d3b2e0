package dev.doorbell.experiments.scenario.kind;

import dev.doorbell.core.fabric.timed.machine.Topology;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.config.schema.Schema;
import dev.doorbell.experiments.plan.Point;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/** The families of a build, in the order in which they are asked whether a point is theirs. */
public final class ExperimentKinds {
  private final List<PointFamily> families;

  /**
   * @param families the last of which takes every point that the others do not
   */
  public ExperimentKinds(List<PointFamily> families) {
    this.families = List.copyOf(families);
  }

  /** Whose a point is. */
  public PointFamily of(Point point) {
    for (PointFamily family : families) {
      if (family.takes(point)) {
        return family;
      }
    }
    throw new IllegalStateException("no family takes point " + point.id());
  }

  /** What is impossible about a point. */
  public void check(Point point, Topology topology, List<Problem> problems) {
    PointFamily own = of(point);
    refuseSettings(point, own, problems);
    refuseMetrics(point, own, problems);
    own.check(point, topology, problems);
  }

  /** A setting that means nothing to a point is refused, not ignored, unless it has its default. */
  private void refuseSettings(Point point, PointFamily own, List<Problem> problems) {
    Schema.experiment()
        .settings()
        .forEach(
            (name, setting) -> {
              if (point.has(name)
                  && !own.settings().contains(name)
                  && families.stream().anyMatch(other -> other.settings().contains(name))
                  && !point.text(name).equals(setting.standard().text())) {
                problems.add(
                    Problem.of("DB-P016", point.id(), "%s is %s".formatted(name, point.text(name)))
                        .effect("it means nothing to points of %s".formatted(own.asked()))
                        .fix(
                            "leave %s out, or use %s"
                                .formatted(name, asked(other -> other.settings().contains(name)))));
              }
            });
  }

  private void refuseMetrics(Point point, PointFamily own, List<Problem> problems) {
    for (String metric : point.metrics()) {
      if (!own.metrics().contains(metric)) {
        problems.add(
            Problem.of("DB-P020", point.id(), "no kernel of this point measures " + metric)
                .fix(
                    "%s, or drop the metric"
                        .formatted(asked(other -> other.metrics().contains(metric)))));
      }
    }
  }

  private String asked(Predicate<PointFamily> which) {
    return families.stream()
        .filter(which)
        .map(PointFamily::asked)
        .collect(Collectors.joining(" or "));
  }
}
