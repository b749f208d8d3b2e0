package dev.doorbell.experiments.run;

import dev.doorbell.experiments.plan.Plan;
import dev.doorbell.experiments.plan.Point;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/**
 * The points of a plan that a run takes, in their order; kept in its manifest, so that a resumed
 * run does what was asked in the first place.
 *
 * @param order places in the plan, in the order in which points are begun
 * @param shuffled whether that is not the plan's own order
 * @param shard which part of how many, or null for the whole
 */
public record PointSchedule(List<Integer> order, boolean shuffled, @Nullable Shard shard) {

  /**
   * A part of a plan for one of several runs.
   *
   * @param part from 1
   * @param parts of the plan; together they take every point once
   */
  public record Shard(int part, int parts) {
    public Shard {
      if (parts < 1 || part < 1 || part > parts) {
        throw new IllegalArgumentException("shard %d/%d".formatted(part, parts));
      }
    }
  }

  public PointSchedule {
    order = List.copyOf(order);
  }

  /**
   * The points that are left of a plan, or a shard of them.
   *
   * @param shuffled draws the order from the run's seed, so that what drifts on the machine while a
   *     sweep runs does not look like an effect of its last axis
   */
  public static PointSchedule of(Plan plan, boolean shuffled, @Nullable Shard shard) {
    List<Integer> order = new ArrayList<>();
    List<Point> points = plan.points();
    for (int i = 0; i < points.size(); i++) {
      // Neighbours cost about the same, so that dealing them out in turn makes shards alike.
      if (shard == null || i % shard.parts == shard.part - 1) {
        order.add(points.get(i).index());
      }
    }
    if (shuffled) {
      Collections.shuffle(order, new Random(plan.config().seed()));
    }
    return new PointSchedule(order, shuffled, shard);
  }

  /** Returns the points of the schedule that the plan contains. */
  public List<Point> points(Plan plan) {
    Map<Integer, Point> known = new HashMap<>();
    plan.points().forEach(point -> known.put(point.index(), point));
    return order.stream().map(known::get).filter(Objects::nonNull).toList();
  }
}
