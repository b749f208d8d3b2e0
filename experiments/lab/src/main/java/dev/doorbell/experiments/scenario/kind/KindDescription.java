package dev.doorbell.experiments.scenario.kind;

import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.experiments.config.document.YamlDocument;
import dev.doorbell.experiments.config.formula.Formula;
import dev.doorbell.experiments.config.formula.Formula.FormulaException;
import dev.doorbell.experiments.config.formula.Formula.Names;
import dev.doorbell.experiments.config.formula.Frame;
import dev.doorbell.experiments.config.schema.Binding;
import dev.doorbell.experiments.config.schema.Schema;
import dev.doorbell.experiments.config.schema.Schema.Setting;
import dev.doorbell.experiments.config.value.Value;
import dev.doorbell.experiments.plan.Point;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.SequencedMap;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.MissingNode;

/**
 * The file {@code KIND.yaml} beside the class of a kind: the metrics that its points may have, an
 * estimate of their time, and what settings make impossible. A kind without such a file says all of
 * it in Java.
 *
 * <p>{@code estimate} and {@code when} are a {@link Formula} over the numbers of settings. A flag
 * is 1 or 0, and so is {@code path.push.bf}, which tells whether a setting has a word, and {@code
 * metric.round_trip}, which tells whether the point asks for a metric; other signs than letters,
 * digits and dots are underscores. {@code metrics}, {@code kernels}, {@code samples}, {@code
 * warmup} and {@code faults} count.
 *
 * <p>Texts may name a setting: {@code ${size}} is replaced by what the config says. They may also
 * have a formula, which is replaced by its value: {@code ${2*size}}.
 */
final class KindDescription {
  private static final Pattern VALUE = Pattern.compile("\\$\\{([^}]*)\\}");

  private final Class<?> kind;
  private final Set<String> settings;
  private final Set<String> metrics;
  private volatile @Nullable JsonNode file;
  private volatile @Nullable Known known;

  /**
   * Describes a kind with these settings.
   *
   * @param metrics empty where the file has them
   */
  KindDescription(Class<?> kind, Set<String> settings, Set<String> metrics) {
    this.kind = kind;
    this.settings = settings;
    this.metrics = metrics;
  }

  /** The metrics that points may have. */
  Set<String> metrics() {
    return metrics.isEmpty()
        ? new LinkedHashSet<>(Schema.strings(file().path("metrics")))
        : metrics;
  }

  /**
   * A refusal of the file.
   *
   * @param when formula that is not 0 for refused points
   * @param code of the problem; empty for that of the kind
   * @param effect says why it is one; may be empty
   */
  record Entry(String when, String code, String what, String effect, String fix) {}

  /**
   * An entry, read.
   *
   * @param values formulas in its texts, as they stand there
   */
  private record Refusal(Formula when, Entry entry, Map<String, Formula> values) {}

  /** The formulas of the file, read for points that have these names. */
  private record Known(Names names, List<Refusal> refusals, @Nullable Formula estimate) {}

  private record Numbers(Known known, Frame frame) {}

  /**
   * Estimates the wall time of a point in nanoseconds; empty where the file does not.
   *
   * @param own numbers of the kind that formulas may name besides the settings
   */
  OptionalLong estimate(Point point, Map<String, ? extends Number> own) {
    try {
      Numbers numbers = numbers(point, own);
      Formula estimate = numbers.known.estimate;
      return estimate == null
          ? OptionalLong.empty()
          : OptionalLong.of(estimate.whole(numbers.frame));
    } catch (FormulaException e) {
      throw new IllegalStateException(kind + " has a formula that is none", e);
    }
  }

  /**
   * Adds the problems of a point.
   *
   * @param own numbers of the kind that formulas may name besides the settings
   */
  void check(Point point, Map<String, ? extends Number> own, Checks checks) {
    try {
      Numbers numbers = numbers(point, own);
      Frame frame = numbers.frame;
      for (Refusal refusal : numbers.known.refusals) {
        if (refusal.when.whole(frame) != 0) {
          Entry of = refusal.entry;
          Checks by = of.code.isEmpty() ? checks : checks.code(of.code);
          String effect = of.effect.isEmpty() ? null : text(of.effect, point, refusal, frame);
          by.refuseIf(
              true,
              text(of.what, point, refusal, frame),
              effect,
              text(of.fix, point, refusal, frame));
        }
      }
    } catch (FormulaException e) {
      throw new IllegalStateException(kind + " has a formula that is none", e);
    }
  }

  private Numbers numbers(Point point, Map<String, ? extends Number> own) throws FormulaException {
    SequencedMap<String, Long> values = values(point);
    own.forEach((name, value) -> values.put(name, value.longValue()));
    Names names = new Names(List.copyOf(values.keySet()), List.of());
    Frame frame = new Frame(names, 0);
    int place = 0;
    for (long value : values.values()) {
      frame.set(place++, value);
    }
    Known last = known;
    if (last == null || !last.names.equals(names)) {
      String estimate = file().path("estimate").asString("");
      last =
          new Known(
              names,
              refusals(file(), names),
              estimate.isEmpty() ? null : Formula.parse(estimate, names));
      known = last;
    }
    return new Numbers(last, frame);
  }

  private SequencedMap<String, Long> values(Point point) {
    SequencedMap<String, Long> values = new LinkedHashMap<>();
    values.put("kernels", (long) point.kernels().size());
    values.put("metrics", (long) point.metrics().size());
    values.put("samples", (long) point.samples());
    values.put("warmup", (long) point.warmup());
    values.put("faults", (long) point.faults().faults().size());
    for (String metric : metrics()) {
      values.put(name("metric." + metric), bit(point.metrics().contains(metric)));
    }
    for (String name : settings) {
      Value value = point.settings().get(name);
      Setting setting = Schema.experiment().settings().get(name);
      switch (value) {
        case Value.Whole(long number) -> values.put(name, number);
        case Value.Real(double number) -> values.put(name, (long) number);
        case Value.Flag(boolean yes) -> values.put(name, bit(yes));
        case Value.Text(String text) when setting != null ->
            setting
                .words()
                .keySet()
                .forEach(word -> values.put(name(name + "." + word), bit(word.equals(text))));
        case null, default -> {}
      }
    }
    return values;
  }

  private static long bit(boolean yes) {
    return yes ? 1 : 0;
  }

  private static String name(String text) {
    return text.replaceAll("[^A-Za-z0-9.]", "_");
  }

  private JsonNode file() {
    JsonNode read = file;
    if (read == null) {
      read = read(kind.getSimpleName());
      file = read;
    }
    return read;
  }

  private JsonNode read(String name) {
    try (InputStream in = kind.getResourceAsStream(name + ".yaml")) {
      return in == null
          ? MissingNode.getInstance()
          : YamlDocument.parse(
                  name, new String(in.readAllBytes(), StandardCharsets.UTF_8), "description")
              .root();
    } catch (IOException | ConfigException e) {
      throw new IllegalStateException(name + ".yaml cannot be read", e);
    }
  }

  private List<Refusal> refusals(JsonNode of, Names names) throws FormulaException {
    List<Refusal> refusals = new ArrayList<>();
    for (JsonNode also : of.path("also")) {
      refusals.addAll(refusals(read(also.asString()), names));
    }
    for (JsonNode each : of.path("refuses")) {
      refusals.add(refusal(Binding.of(Entry.class, each), names));
    }
    return refusals;
  }

  private Refusal refusal(Entry entry, Names names) throws FormulaException {
    Map<String, Formula> values = new HashMap<>();
    Matcher value = VALUE.matcher(entry.what + entry.effect + entry.fix);
    while (value.find()) {
      if (!settings.contains(value.group(1))) {
        values.put(value.group(1), Formula.parse(value.group(1), names));
      }
    }
    return new Refusal(Formula.parse(entry.when, names), entry, values);
  }

  /** Puts values into a text. */
  private static String text(String with, Point point, Refusal refusal, Frame frame)
      throws FormulaException {
    Matcher value = VALUE.matcher(with);
    StringBuilder text = new StringBuilder();
    while (value.find()) {
      Formula formula = refusal.values.get(value.group(1));
      String shown =
          formula == null ? point.text(value.group(1)) : Long.toString(formula.whole(frame));
      value.appendReplacement(text, Matcher.quoteReplacement(shown));
    }
    return value.appendTail(text).toString();
  }
}
