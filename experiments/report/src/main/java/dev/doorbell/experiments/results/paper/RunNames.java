package dev.doorbell.experiments.results.paper;

import dev.doorbell.experiments.config.formula.Formula.FormulaException;
import dev.doorbell.experiments.config.value.Sizes;
import dev.doorbell.experiments.config.value.Value;
import dev.doorbell.experiments.plan.Prediction;
import dev.doorbell.experiments.run.Crossings;
import dev.doorbell.experiments.run.RunData;
import dev.doorbell.experiments.run.SummaryRow;
import dev.doorbell.experiments.stats.Crossover;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.SequencedMap;
import java.util.stream.Stream;

/**
 * Selections from a run: {@code latency{path=pull, size=8}} is a median or a counter, {@code
 * predict.latency{...}} the closed form beside it, {@code crossover{first=pull, second=staged}} the
 * size at which the second curve becomes the lower one, {@code crossings{...}} how often they
 * cross; {@code points} and {@code points.verified} count.
 */
public final class RunNames extends ModelNames {
  private static final String PREDICT = "predict.";

  private final RunData data;
  private final int points;
  private final int verified;

  /**
   * Selects from a run.
   *
   * @param points that were to be run
   * @param verified of them whose every byte was right
   */
  public RunNames(RunData data, int points, int verified) {
    this.data = data;
    this.points = points;
    this.verified = verified;
  }

  @Override
  public double select(String name, SequencedMap<String, String> settings) throws FormulaException {
    return switch (name) {
      case "points" -> points;
      case "points.verified" -> verified;
      case "crossover" -> crossover(settings);
      case "crossings" -> found(settings).crossover().crossings().size();
      default -> value(name, settings);
    };
  }

  private double value(String name, SequencedMap<String, String> settings) throws FormulaException {
    boolean predicted = name.startsWith(PREDICT);
    String metric = predicted ? name.substring(PREDICT.length()) : name;
    List<Double> values = new ArrayList<>();
    for (SummaryRow row : data.rows()) {
      if (matches(row.axes(), settings)) {
        (predicted ? prediction(row, metric) : row.value(metric)).ifPresent(values::add);
      }
    }
    if (values.size() != 1) {
      throw new FormulaException(
          values.isEmpty()
              ? "the run has no %s%s".formatted(name, settings)
              : "%d points have %s%s".formatted(values.size(), name, settings));
    }
    return values.getFirst();
  }

  private static OptionalDouble prediction(SummaryRow row, String metric) {
    return Stream.ofNullable(row.metrics().get(metric))
        .flatMap(samples -> samples.model().stream())
        .mapToDouble(Prediction.Term::value)
        .findFirst();
  }

  private static boolean matches(Map<String, Value> axes, Map<String, String> settings) {
    return settings.entrySet().stream()
        .allMatch(
            wanted -> {
              Value value = axes.get(wanted.getKey());
              return value != null && value.text().equals(canonical(wanted.getValue()));
            });
  }

  private static String canonical(String text) {
    OptionalLong size = Sizes.parse(text);
    return size.isPresent() ? Long.toString(size.getAsLong()) : text;
  }

  private double crossover(SequencedMap<String, String> settings) throws FormulaException {
    List<Crossover.Crossing> crossings = found(settings).crossover().crossings();
    if (crossings.size() != 1) {
      throw new FormulaException(
          "%s cross %d times, not once".formatted(settings, crossings.size()));
    }
    return crossings.getFirst().size();
  }

  private Crossings.Found found(SequencedMap<String, String> settings) throws FormulaException {
    List<Crossings.Found> fitting =
        Crossings.of(data).stream()
            .filter(f -> f.contrast().first().equals(settings.get("first")))
            .filter(f -> f.contrast().second().equals(settings.get("second")))
            .filter(
                f ->
                    f.by().isEmpty()
                        || f.by().equals(settings.getOrDefault(f.contrast().by(), f.by())))
            .toList();
    if (fitting.size() != 1) {
      throw new FormulaException(
          "the experiment has %d comparisons of %s".formatted(fitting.size(), settings));
    }
    return fitting.getFirst();
  }
}
