package dev.doorbell.experiments.scenario.kind;

import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.config.schema.Schema;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.scenario.kernel.Protocols;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.ServiceLoader;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/** The kinds of points, in the order in which they are asked whether a point is theirs. */
public final class ExperimentKinds {
  private final List<ExperimentKind<?>> kinds;

  /**
   * Finds the kinds: Doorbell's own in their order, those of other jars behind them, and last the
   * one that takes the rest.
   *
   * @param protocols kernels that points may name
   */
  public ExperimentKinds(Protocols protocols) {
    List<ExperimentKind<?>> found = new ArrayList<>();
    for (ExperimentKind<?> kind : ServiceLoader.load(ExperimentKind.class)) {
      kind.use(protocols);
      found.add(kind);
    }
    found.sort(Comparator.comparing(ExperimentKind::takesTheRest));
    kinds = List.copyOf(found);
  }

  public ExperimentKind<?> of(Point point) {
    for (ExperimentKind<?> kind : kinds) {
      if (kind.applies(point)) {
        return kind;
      }
    }
    throw new IllegalStateException("no kind takes point " + point.id());
  }

  /** Adds the problems of a point. */
  public void check(Point point, List<Problem> problems) {
    ExperimentKind<?> own = of(point);
    List<Problem> found = new ArrayList<>();
    if (!own.check(point, found)) {
      refuseSettings(point, own, problems);
      refuseMetrics(point, own, problems);
    }
    problems.addAll(found);
  }

  /** Returns true if a setting means something to a point, or to all points alike. */
  public boolean uses(Point point, String setting) {
    return of(point).settings().contains(setting)
        || kinds.stream().noneMatch(kind -> kind.settings().contains(setting));
  }

  /** A setting that means nothing to a point is refused, not ignored, unless it has its default. */
  private void refuseSettings(Point point, ExperimentKind<?> own, List<Problem> problems) {
    Schema.experiment()
        .settings()
        .forEach(
            (name, setting) -> {
              if (point.has(name)
                  && !own.settings().contains(name)
                  && kinds.stream().anyMatch(other -> other.settings().contains(name))
                  && !point.text(name).equals(setting.standard().text())) {
                problems.add(
                    Problem.of("DB-P016", point.id(), "%s is %s".formatted(name, point.text(name)))
                        .effect("it means nothing to points of %s".formatted(own.request()))
                        .fix(
                            "leave %s out, or use %s"
                                .formatted(
                                    name, requests(other -> other.settings().contains(name)))));
              }
            });
  }

  private void refuseMetrics(Point point, ExperimentKind<?> own, List<Problem> problems) {
    for (String metric : point.metrics()) {
      if (!own.measures(point, metric)) {
        problems.add(
            Problem.of("DB-P020", point.id(), "no kernel of this point measures " + metric)
                .fix(
                    "%s, or drop the metric"
                        .formatted(requests(other -> other.metrics().contains(metric)))));
      }
    }
  }

  private String requests(Predicate<ExperimentKind<?>> which) {
    return kinds.stream()
        .filter(which)
        .map(ExperimentKind::request)
        .collect(Collectors.joining(" or "));
  }
}
