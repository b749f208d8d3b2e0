package dev.doorbell.experiments.run;

import dev.doorbell.experiments.plan.Prediction;
import dev.doorbell.experiments.plan.Samples;
import dev.doorbell.experiments.stats.SampleWarning;
import dev.doorbell.experiments.stats.Summary;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * One sampled metric at one point, with what the model says about it. Its statistics are computed
 * once: tables, figures and expectations all ask for them, and each is thousands of resamples.
 */
public final class MetricRow {
  private final Samples samples;
  private final Optional<Prediction.Term> model;
  private final int processes;
  private volatile @Nullable Seeded known;
  private volatile @Nullable List<SampleWarning> warnings;

  /**
   * A metric.
   *
   * @param samples raw values with name and unit
   * @param model the closed form's value, where there is one; same unit
   */
  public MetricRow(Samples samples, Optional<Prediction.Term> model) {
    this(samples, model, 1);
  }

  /**
   * A metric that several processes have sampled.
   *
   * @param processes as many samples are of each, one process after the other
   */
  public MetricRow(Samples samples, Optional<Prediction.Term> model, int processes) {
    this.samples = samples;
    this.model = model;
    this.processes = processes;
  }

  private record Seeded(long seed, Summary summary) {}

  /** Raw values with name and unit. */
  public Samples samples() {
    return samples;
  }

  /** The closed form's value, where there is one; same unit. */
  public Optional<Prediction.Term> model() {
    return model;
  }

  Summary summary(long seed) {
    Seeded last = known;
    if (last == null || last.seed != seed) {
      last = new Seeded(seed, Summary.of(samples.values(), processes, seed));
      known = last;
    }
    return last.summary;
  }

  /** Why the samples may not be what statistics take them for; empty where there are none. */
  public List<SampleWarning> warnings() {
    List<SampleWarning> raised = warnings;
    if (raised == null) {
      raised = samples.size() == 0 ? List.of() : List.copyOf(SampleWarning.about(samples.values()));
      warnings = raised;
    }
    return raised;
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof MetricRow that
        && samples.equals(that.samples)
        && model.equals(that.model)
        && processes == that.processes;
  }

  @Override
  public int hashCode() {
    return 31 * samples.hashCode() + model.hashCode();
  }
}
