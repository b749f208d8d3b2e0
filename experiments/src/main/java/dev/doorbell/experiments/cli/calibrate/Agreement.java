package dev.doorbell.experiments.cli.calibrate;

import dev.doorbell.experiments.results.print.Screen;
import dev.doorbell.experiments.stats.Summary;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** How many medians a model is near to, group by group, and which it is not near to. */
final class Agreement {
  private static final double NEAR = 0.10;

  /** Points of one kind, with the residuals of those that are not near. */
  private static final class Group {
    private final Map<String, Double> far = new LinkedHashMap<>();
    private int points;
  }

  private final Map<String, Group> groups = new LinkedHashMap<>();

  /**
   * Takes a point.
   *
   * @return its residual: (model - measured) / measured
   */
  double add(String name, Summary measured, double model) {
    double residual = measured.median() == 0 ? 0 : model / measured.median() - 1;
    Group group = groups.computeIfAbsent(group(name), key -> new Group());
    group.points++;
    if (!(Math.abs(residual) <= NEAR)) {
      group.far.put(name, residual);
    }
    return residual;
  }

  private static String group(String name) {
    if (name.startsWith("stores.host")) {
      return "pushes to host memory";
    }
    if (name.startsWith("loads.host")) {
      return "pulls from host memory";
    }
    if (name.startsWith("stores.device")) {
      return "stores to device memory";
    }
    if (name.startsWith("issue.") || name.startsWith("together.")) {
      return "points of loads side by side";
    }
    return name.startsWith("loads.device") ? "loads of device memory" : "prices";
  }

  /** A line for each group. */
  List<String> lines() {
    List<String> lines = new ArrayList<>();
    groups.forEach(
        (name, group) -> {
          int near = group.points - group.far.size();
          StringBuilder line =
              new StringBuilder(
                  "model    %d of %d %s within 10 %%".formatted(near, group.points, name));
          String before = "; not: ";
          for (Map.Entry<String, Double> each : group.far.entrySet()) {
            line.append(before).append(each.getKey()).append(' ');
            line.append(Screen.percent(each.getValue()));
            before = ", ";
          }
          lines.add(line.toString());
        });
    return lines;
  }
}
