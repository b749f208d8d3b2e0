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
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * Points that a kind refuses by their settings alone, as the file {@code KIND.refuses.yaml} beside
 * its class lists them; a kind without such a file refuses nothing here.
 *
 * <p>{@code when} is a {@link Formula} over the numbers of settings. A flag is 1 or 0, and so is
 * {@code path.push.bf}, which tells whether a setting has a word, and {@code metric.round_trip},
 * which tells whether the point asks for a metric; other signs than letters, digits and dots are
 * underscores. {@code metrics}, {@code kernels}, {@code samples} and {@code faults} count.
 *
 * <p>The texts may contain {@code ${size}}, a setting as the config has it, and {@code ${2 *
 * size}}, the value of a formula.
 */
final class Refusals {
  private static final Pattern VALUE = Pattern.compile("\\$\\{([^}]*)\\}");

  private final Class<?> kind;
  private final Set<String> settings;
  private final Set<String> metrics;
  private volatile @Nullable Known known;

  /** Refuses points of a kind with these settings and metrics. */
  Refusals(Class<?> kind, Set<String> settings, Set<String> metrics) {
    this.kind = kind;
    this.settings = settings;
    this.metrics = metrics;
  }

  /**
   * An entry of the file.
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

  /** The file, read for points whose formulas have these names. */
  private record Known(Names names, List<Refusal> refusals) {}

  /**
   * Adds the problems of a point.
   *
   * @param own numbers of the kind that formulas may name besides the settings
   */
  void check(Point point, Map<String, ? extends Number> own, Checks checks) {
    SequencedMap<String, Long> values = values(point);
    own.forEach((name, value) -> values.put(name, value.longValue()));
    Names names = new Names(List.copyOf(values.keySet()), List.of());
    Frame frame = new Frame(names, 0);
    int place = 0;
    for (long value : values.values()) {
      frame.set(place++, value);
    }
    Known last = known;
    try {
      if (last == null || !last.names.equals(names)) {
        last = new Known(names, read(kind.getSimpleName(), names));
        known = last;
      }
      for (Refusal refusal : last.refusals) {
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
      throw new IllegalStateException(kind + " refuses by a formula that is none", e);
    }
  }

  private SequencedMap<String, Long> values(Point point) {
    SequencedMap<String, Long> values = new LinkedHashMap<>();
    values.put("kernels", (long) point.kernels().size());
    values.put("metrics", (long) point.metrics().size());
    values.put("samples", (long) point.samples());
    values.put("faults", (long) point.faults().faults().size());
    for (String metric : metrics) {
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

  private List<Refusal> read(String file, Names names) throws FormulaException {
    String name = file + ".refuses.yaml";
    try (InputStream in = kind.getResourceAsStream(name)) {
      List<Refusal> refusals = new ArrayList<>();
      if (in != null) {
        String text = new String(in.readAllBytes(), StandardCharsets.UTF_8);
        JsonNode root = YamlDocument.parse(name, text, "list of refusals").root();
        for (JsonNode also : root.path("also")) {
          refusals.addAll(read(also.asString(), names));
        }
        for (JsonNode each : root.path("refuses")) {
          refusals.add(refusal(Binding.of(Entry.class, each), names));
        }
      }
      return refusals;
    } catch (IOException | ConfigException e) {
      throw new IllegalStateException(name + " cannot be read", e);
    }
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
