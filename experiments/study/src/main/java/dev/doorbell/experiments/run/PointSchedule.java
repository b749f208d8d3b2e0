package dev.doorbell.experiments.run;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import dev.doorbell.experiments.plan.Plan;
import dev.doorbell.experiments.plan.Point;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.stream.Collectors;

/**
 * The points of a plan that a run takes, in their order; kept in its manifest, so that a resumed
 * run does what was asked in the first place.
 *
 * @param order places in the plan, in the order in which points are begun
 * @param shuffled whether that is not the plan's own order
 */
@JsonIgnoreProperties("shard") // in manifests of older versions
public record PointSchedule(List<Integer> order, boolean shuffled) {

  public PointSchedule {
    order = List.copyOf(order);
  }

  /**
   * The points that are left of a plan.
   *
   * @param shuffled draws the order from the run's seed, so that what drifts on the machine while a
   *     sweep runs does not look like an effect of its last axis
   */
  public static PointSchedule of(Plan plan, boolean shuffled) {
    List<Integer> order =
        plan.points().stream().map(Point::index).collect(Collectors.toCollection(ArrayList::new));
    if (shuffled) {
      Collections.shuffle(order, new Random(plan.config().seed()));
    }
    return new PointSchedule(order, shuffled);
  }

  /** Returns the points of the schedule that the plan contains. */
  public List<Point> points(Plan plan) {
    Map<Integer, Point> known = new HashMap<>();
    plan.points().forEach(point -> known.put(point.index(), point));
    return order.stream().map(known::get).filter(Objects::nonNull).toList();
  }
}
