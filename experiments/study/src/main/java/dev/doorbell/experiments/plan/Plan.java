package dev.doorbell.experiments.plan;

import dev.doorbell.core.Sha256;
import dev.doorbell.experiments.config.ExperimentConfig;
import dev.doorbell.experiments.config.condition.PointCondition;
import dev.doorbell.experiments.config.value.Axis;
import dev.doorbell.experiments.config.value.Value;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.StringJoiner;

/**
 * The points of an experiment, in the order of its axes, the last axis fastest.
 *
 * @param points what is to be run, with their places in the whole plan
 * @param excluded how many points the config leaves out
 */
public record Plan(ExperimentConfig config, List<Point> points, int excluded) {
  public Plan {
    points = List.copyOf(points);
  }

  /** Expands a config. The same config gives the same plan, always. */
  public static Plan of(ExperimentConfig config) {
    Expansion expansion = new Expansion(config);
    expansion.expand(0, new LinkedHashMap<>());
    return new Plan(config, expansion.points, expansion.excluded);
  }

  /** The points for which every condition holds; indices, ids and seeds stay as they are. */
  public Plan only(List<PointCondition> conditions) {
    List<Point> kept =
        points.stream()
            .filter(point -> conditions.stream().allMatch(c -> c.holds(point.settings())))
            .toList();
    return new Plan(config, kept, excluded);
  }

  private static final class Expansion {
    /** With an ending it is a file name everywhere; paths of topology files can be longer. */
    private static final int LONGEST_ID = 120;

    private final ExperimentConfig config;
    private final List<Point> points = new ArrayList<>();
    private final Map<String, Integer> ids = new HashMap<>();
    private int excluded;

    Expansion(ExperimentConfig config) {
      this.config = config;
    }

    void expand(int axisIndex, SequencedMap<String, Value> chosen) {
      if (axisIndex == config.axes().size()) {
        add(chosen);
        return;
      }
      Axis axis = config.axes().get(axisIndex);
      for (Value value : axis.values()) {
        chosen.put(axis.name(), value);
        expand(axisIndex + 1, chosen);
        chosen.remove(axis.name());
      }
    }

    private void add(SequencedMap<String, Value> chosen) {
      SequencedMap<String, Value> settings = new LinkedHashMap<>(chosen);
      settings.putAll(config.fixed());
      for (List<PointCondition> conditions : config.exclude()) {
        if (conditions.stream().allMatch(condition -> condition.holds(settings))) {
          excluded++;
          return;
        }
      }
      String id = id(chosen);
      points.add(
          new Point(
              points.size(),
              id,
              config.hash(),
              chosen.get("kernel") instanceof Value.Text(String kernel)
                  ? List.of(kernel)
                  : config.kernels(),
              chosen,
              settings,
              seed(config.seed(), id),
              config.measure().metrics(),
              config.measure().warmup(),
              config.measure().samples(),
              config.measure().launches(),
              config.measure().timeout(),
              config.faults()));
    }

    /** Axis values joined; safe as a file name, and unique even where values look alike in one. */
    private String id(SequencedMap<String, Value> chosen) {
      StringJoiner joiner = new StringJoiner("_");
      chosen.values().forEach(value -> joiner.add(value.text().replaceAll("[^A-Za-z0-9.-]", "-")));
      String whole = joiner.toString();
      String id =
          whole.length() <= LONGEST_ID
              ? whole
              : "%s~%08x".formatted(whole.substring(0, LONGEST_ID), whole.hashCode());
      int before = ids.merge(id, 1, Integer::sum);
      return before == 1 ? id : id + "~" + before;
    }

    private static long seed(long runSeed, String id) {
      byte[] hash = Sha256.of((runSeed + " " + id).getBytes(StandardCharsets.UTF_8));
      return ByteBuffer.wrap(hash).getLong();
    }
  }
}
