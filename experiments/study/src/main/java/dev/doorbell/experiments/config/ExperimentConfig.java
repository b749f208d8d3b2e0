package dev.doorbell.experiments.config;

import dev.doorbell.core.fault.FaultPlan;
import dev.doorbell.experiments.config.condition.Expectation;
import dev.doorbell.experiments.config.condition.Expectation.Contrast;
import dev.doorbell.experiments.config.condition.PointCondition;
import dev.doorbell.experiments.config.document.SourcePositions;
import dev.doorbell.experiments.config.figure.FigureSpec;
import dev.doorbell.experiments.config.kernel.KernelExtension.KernelMetric;
import dev.doorbell.experiments.config.value.Axis;
import dev.doorbell.experiments.config.value.Value;
import java.time.Duration;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.Set;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * An experiment, checked, with every default filled in.
 *
 * @param source the text of the file as given
 * @param resolved the same experiment as YAML with sweeps expanded, overrides applied and defaults
 *     written out; reading it again gives the same config
 * @param hash SHA-256 of what decides the results, lower-case hexadecimal; what is asked, expected
 *     or drawn does not
 * @param positions of keys and values in the file, or on the command line
 * @param fixed every setting that is not an axis
 * @param brought metrics that its kernels bring, by name
 * @param faults what goes wrong at each point, on purpose
 * @param expectations what the run is held against
 * @param exclude points for which all conditions of one entry hold are left out
 */
public record ExperimentConfig(
    String name,
    String question,
    String expectation,
    List<String> kernels,
    String gpu,
    String hca,
    String clock,
    long seed,
    List<Axis> axes,
    SequencedMap<String, Value> fixed,
    List<List<PointCondition>> exclude,
    Measure measure,
    Map<String, KernelMetric> brought,
    List<FigureSpec> figures,
    List<Contrast> contrasts,
    List<Expectation> expectations,
    FaultPlan faults,
    String source,
    String resolved,
    String hash,
    SourcePositions positions) {

  /**
   * The samples to record.
   *
   * @param warmup iterations that are not
   * @param samples iterations that are
   * @param launches that give one sample each, of metrics that have one for a launch
   * @param repeat times that each point runs at least, in a world of its own each time
   * @param processes that run each point one after the other, each as often; their samples are put
   *     together in this order
   * @param until what its samples must show before it is enough, or null
   * @param timeout of a point, all its rounds together
   */
  public record Measure(
      List<String> metrics,
      int warmup,
      int samples,
      int launches,
      int repeat,
      int processes,
      @Nullable Until until,
      Duration timeout) {
    public Measure {
      metrics = List.copyOf(metrics);
    }
  }

  /** The resolved experiment without the fixed settings that are not wanted. */
  public String resolved(Predicate<String> wanted) {
    return Resolver.yaml(resolved, wanted);
  }

  /** Names of the settings: what conditions on points may name. */
  public Set<String> settings() {
    Set<String> names = new LinkedHashSet<>();
    axes.forEach(axis -> names.add(axis.name()));
    names.addAll(fixed.keySet());
    return names;
  }

  public ExperimentConfig {
    kernels = List.copyOf(kernels);
    axes = List.copyOf(axes);
    fixed = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(fixed));
    exclude = List.copyOf(exclude);
    brought = Map.copyOf(brought);
    figures = List.copyOf(figures);
    contrasts = List.copyOf(contrasts);
    expectations = List.copyOf(expectations);
  }

  /**
   * When a point has samples enough: {@code ci95(latency.p50) < 2%} asks that the 95 % interval of
   * the median be no wider than 2 % of it to either side.
   *
   * @param metric whose median is meant
   * @param bound half the interval's width over the median
   * @param text as its author wrote it
   */
  public record Until(String metric, double bound, String text) {
    private static final Pattern FORM =
        Pattern.compile(
            "\\s*ci95\\(\\s*([a-z][a-z0-9._]*)\\.p50\\s*\\)\\s*<\\s*([0-9.]+)\\s*%\\s*");

    /** Reads a condition; nothing where it is none. */
    public static Optional<Until> parse(String text) {
      Matcher matcher = FORM.matcher(text);
      if (!matcher.matches()) {
        return Optional.empty();
      }
      try {
        double percent = Double.parseDouble(matcher.group(2));
        return percent > 0
            ? Optional.of(new Until(matcher.group(1), percent / 100, text.strip()))
            : Optional.empty();
      } catch (NumberFormatException _) {
        return Optional.empty();
      }
    }
  }
}
