package dev.doorbell.experiments.plan;

import dev.doorbell.core.fault.FaultPlan;
import dev.doorbell.experiments.config.value.RecordCopy;
import dev.doorbell.experiments.config.value.Value;
import java.time.Duration;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;

/**
 * One run of the experiment: a value for every axis and every fixed setting.
 *
 * @param index place in the whole plan, from 0; unchanged when only a part of the plan is run
 * @param id names the point in files and messages; made of the axis values alone
 * @param configHash of the resolved config that the point came from
 * @param kernels names of the protocol kernels, as in the catalogue
 * @param axes axis name to value, in the order of the config
 * @param settings every setting by name: the axes' values, the fixed ones and the defaults
 * @param seed for everything random in this point; depends on the run's seed and the id only, so
 *     that a point gives the same samples whatever else is run
 * @param metrics names of what is to be recorded, in the order of the config
 * @param warmup iterations to run and not to record
 * @param samples iterations to record
 * @param launches to record of metrics that have one sample a launch: goodput, rate, overlap
 * @param timeout wall time after which the point has failed
 * @param faults what goes wrong in each of its transfers, on purpose
 */
public record Point(
    int index,
    String id,
    String configHash,
    List<String> kernels,
    SequencedMap<String, Value> axes,
    SequencedMap<String, Value> settings,
    long seed,
    List<String> metrics,
    int warmup,
    int samples,
    int launches,
    Duration timeout,
    FaultPlan faults) {

  public Point {
    kernels = List.copyOf(kernels);
    axes = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(axes));
    settings = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(settings));
    metrics = List.copyOf(metrics);
  }

  /** Returns this point with another seed. */
  public Point reseeded(long other) {
    return RecordCopy.with(this, Map.of("seed", other));
  }

  /** A setting's text; the schema gives every known setting a value, so absence is a fault. */
  public String text(String setting) {
    return value(setting).text();
  }

  /** A setting that is a whole number. */
  public long whole(String setting) {
    if (value(setting) instanceof Value.Whole(long number)) {
      return number;
    }
    throw new IllegalArgumentException(
        "setting %s of point %s is not a whole number: %s"
            .formatted(setting, id, value(setting).text()));
  }

  /** A setting that is yes or no. */
  public boolean flag(String setting) {
    if (value(setting) instanceof Value.Flag(boolean yes)) {
      return yes;
    }
    throw new IllegalArgumentException(
        "setting %s of point %s is not yes or no: %s"
            .formatted(setting, id, value(setting).text()));
  }

  /** Returns whether the setting has a value. */
  public boolean has(String setting) {
    return settings.containsKey(setting);
  }

  private Value value(String setting) {
    Value value = settings.get(setting);
    if (value == null) {
      throw new IllegalArgumentException("point %s has no setting %s".formatted(id, setting));
    }
    return value;
  }
}
