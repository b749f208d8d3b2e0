package dev.doorbell.experiments.config.value;

import java.util.List;

/**
 * One dimension of the sweep.
 *
 * @param name as in the config, such as {@code path}
 * @param unit of its values, such as {@code B}; empty for words and counts
 * @param values in the order of the config
 */
public record Axis(String name, String unit, List<Value> values) {
  public Axis {
    values = List.copyOf(values);
  }
}
