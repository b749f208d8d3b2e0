package dev.doorbell.experiments.config.kernel;

import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.config.document.SourcePositions;
import dev.doorbell.experiments.config.formula.Formula;
import dev.doorbell.experiments.config.formula.Formula.FormulaException;
import dev.doorbell.experiments.config.kernel.KernelExtension.KernelBuffer;
import dev.doorbell.experiments.config.kernel.KernelExtension.KernelMetric;
import dev.doorbell.experiments.config.kernel.KernelExtension.KernelSetting;
import dev.doorbell.experiments.config.kernel.KernelExtension.KernelVerification;
import dev.doorbell.experiments.config.schema.Schema;
import dev.doorbell.experiments.config.schema.SchemaChecker.Suggestions;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

final class KernelExtensionReader {
  private static final Pattern NAME = Pattern.compile("[a-z][a-z0-9_]{0,31}");
  private static final List<String> COLUMNS =
      List.of("run", "basis", "point", "metric", "sample", "value");
  private static final String CODE = "DB-K011";

  /** No name of Doorbell begins so, now or later. */
  private static final String OWN = "my_";

  private static final String VERIFY = "/verify";
  private static final String MULTICAST = "multicast";

  private final JsonNode root;
  private final List<String> fields;
  private final Schema experiments;
  private final SourcePositions positions;
  private final List<Problem> problems;

  KernelExtensionReader(
      JsonNode root,
      List<String> fields,
      Schema experiments,
      SourcePositions positions,
      List<Problem> problems) {
    this.root = root;
    this.experiments = experiments;
    this.fields = fields;
    this.positions = positions;
    this.problems = problems;
  }

  KernelExtension read() {
    List<KernelSetting> settings = new ArrayList<>();
    root.path("settings")
        .properties()
        .forEach(entry -> settings.add(setting(entry.getKey(), entry.getValue())));
    List<KernelMetric> metrics = new ArrayList<>();
    root.path("metrics")
        .properties()
        .forEach(entry -> metrics.add(metric(entry.getKey(), entry.getValue())));
    checkNames();
    Formula.Names numbers =
        new KernelExtension(settings, metrics, List.of(), Optional.empty()).formulaNames();
    List<KernelBuffer> buffers = new ArrayList<>();
    root.path("buffers")
        .properties()
        .forEach(entry -> buffers.add(buffer(entry.getKey(), entry.getValue(), numbers)));
    KernelExtension without = new KernelExtension(settings, metrics, buffers, Optional.empty());
    return new KernelExtension(
        settings, metrics, buffers, Optional.ofNullable(verification(without)));
  }

  private void problem(String pointer, String what, String fix) {
    problems.add(Problem.of(CODE, positions.ofValue(pointer), what).fix(fix));
  }

  /** Names mean one thing each, in parameters, in formulas and in experiments. */
  private void checkNames() {
    Map<String, String> taken = new LinkedHashMap<>();
    fields.forEach(field -> taken.put(field, "a field of the job"));
    KernelExtension.VARIABLES.forEach(name -> taken.put(name, "a number that formulas know"));
    KernelVerification.Entry.PARAMETERS.forEach(name -> taken.put(name, "a parameter of verify"));
    Formula.reserved().forEach(name -> taken.put(name, "a function of formulas"));
    taken.put(Formula.RANK, "a number that formulas know");
    taken.put(Formula.INDEX, "a number that formulas know");
    experiments
        .settings()
        .keySet()
        .forEach(name -> taken.put(name, "a setting of all experiments"));
    experiments.measureKeys().forEach(name -> taken.put(name, "a key of measure"));
    experiments.topLevel().forEach(name -> taken.put(name, "a key of all experiments"));
    experiments.metrics().keySet().forEach(name -> taken.put(name, "a metric of all experiments"));
    COLUMNS.forEach(name -> taken.put(name, "a column of all tables of samples"));
    Map<String, String> parameters = new LinkedHashMap<>();
    fields.forEach(field -> parameters.put(field, "a field of the job"));
    for (String section : List.of("settings", "metrics", "buffers", "args")) {
      for (String name : root.path(section).propertyNames()) {
        // Structures are parameters alone: no formula and no experiment names them.
        Map<String, String> others = section.equals("args") ? parameters : taken;
        String pointer = SourcePositions.child("/" + section, name);
        checkName(pointer, name, others.putIfAbsent(name, "another of " + section));
        parameters.putIfAbsent(name, "one of " + section);
      }
    }
    root.path("buffers")
        .properties()
        .forEach(
            entry -> {
              if (entry.getValue().has(MULTICAST)) {
                String name = entry.getValue().get(MULTICAST).asString();
                checkName(
                    SourcePositions.child("/buffers", entry.getKey()) + "/" + MULTICAST,
                    name,
                    parameters.putIfAbsent(name, "another multicast object"));
              }
            });
  }

  private void checkName(String pointer, String name, @Nullable String other) {
    if (!NAME.matcher(name).matches()) {
      problem(
          pointer,
          "'%s' cannot be a name".formatted(name),
          "a lower-case letter, then letters, digits and underscores, up to 32");
    } else if (other != null) {
      problem(
          pointer,
          "'%s' is %s".formatted(name, other),
          "choose another name: those that begin with '%s' stay free".formatted(OWN));
    }
  }

  private KernelSetting setting(String name, JsonNode node) {
    String pointer = SourcePositions.child("/settings", name);
    NumberType type = NumberType.of(node.get("type").asString());
    double most =
        switch (type) {
          case U32 -> 0xFFFFFFFFL;
          case U64 -> Long.MAX_VALUE;
          case F32 -> Float.MAX_VALUE;
          case F64 -> Double.MAX_VALUE;
        };
    JsonNode range = node.path("range");
    KernelSetting setting =
        new KernelSetting(
            name,
            node.path("description").asString(""),
            type,
            node.path("unit").asString(""),
            Schema.value(node.get("default")),
            range.path(0).asDouble(type.decimal() ? -most : 0),
            range.path(1).asDouble(most));
    for (String key : List.of("/default", "/range/0", "/range/1")) {
      JsonNode number = node.at(key);
      if (number.isNumber() && !type.decimal() && !number.isIntegralNumber()) {
        problem(pointer + key, "%s is no whole number".formatted(number), "type: f64");
      }
    }
    double standard = KernelSetting.number(setting.standard());
    if (standard < setting.least() || standard > setting.most()) {
      problem(
          pointer + "/default",
          "the default %s lies outside of the range".formatted(setting.standard().text()),
          "range: [least, most]");
    }
    return setting;
  }

  private static KernelMetric metric(String name, JsonNode node) {
    return new KernelMetric(
        name,
        node.path("description").asString(""),
        NumberType.of(node.get("type").asString()),
        node.path("unit").asString(""),
        node.get("better").asString().equals("higher"),
        KernelMetric.Across.valueOf(node.path("across").asString("first").toUpperCase(Locale.ROOT)),
        node.path("per").asString("").equals("launch"));
  }

  private KernelBuffer buffer(String name, JsonNode node, Formula.Names numbers) {
    String pointer = SourcePositions.child("/buffers", name);
    // Without rank and i, which stand last: all ranks have as many.
    List<String> fixed = numbers.variables().subList(0, numbers.variables().size() - 2);
    Formula count =
        formula(node.get("count"), pointer + "/count", new Formula.Names(fixed, List.of()));
    return new KernelBuffer(
        name,
        node.path("description").asString(""),
        NumberType.of(node.get("type").asString()),
        count,
        node.has("fill") ? formula(node.get("fill"), pointer + "/fill", numbers) : null,
        node.has(MULTICAST) ? node.get(MULTICAST).asString() : null);
  }

  private Formula formula(JsonNode node, String pointer, Formula.Names names) {
    try {
      return Formula.parse(node.asString(), names);
    } catch (FormulaException e) {
      problem(pointer, e.why(), "docs/kernel-descriptor.md has what formulas may say");
      return Formula.ZERO;
    }
  }

  private @Nullable KernelVerification verification(KernelExtension extension) {
    JsonNode node = root.path("verify");
    if (!node.isObject()) {
      return null;
    }
    List<String> ways = List.of("entry", "expect", "reduce").stream().filter(node::has).toList();
    if (ways.size() != 1) {
      problem(
          VERIFY,
          ways.isEmpty() ? "it says not how" : "it says " + String.join(" and ", ways),
          "one of entry, expect and reduce");
      return null;
    }
    return switch (ways.getFirst()) {
      case "entry" -> entry(node, extension);
      case "expect" -> expected(node, extension);
      default -> reduction(node, extension);
    };
  }

  private KernelVerification expected(JsonNode node, KernelExtension extension) {
    SequencedMap<String, Formula> expected = new LinkedHashMap<>();
    node.get("expect")
        .properties()
        .forEach(
            entry -> {
              String pointer = SourcePositions.child("/verify/expect", entry.getKey());
              checkBuffer(entry.getKey(), pointer, extension);
              expected.put(
                  entry.getKey(), formula(entry.getValue(), pointer, extension.formulaNames()));
            });
    return new KernelVerification.Expected(expected, node.path("tolerance").asDouble(0));
  }

  /** A reduction is a formula with a name. */
  private KernelVerification reduction(JsonNode node, KernelExtension extension) {
    for (String key : List.of("of", "in")) {
      if (!node.has(key)) {
        problem(VERIFY, "a reduction needs the key '%s'".formatted(key), key + ": BUFFER");
      } else {
        checkBuffer(node.get(key).asString(), "/verify/" + key, extension);
      }
    }
    SequencedMap<String, Formula> expected = new LinkedHashMap<>();
    if (problems.isEmpty()) {
      String text =
          "%s(p, ranks, %s(p, i))"
              .formatted(node.get("reduce").asString(), node.get("of").asString());
      try {
        expected.put(node.get("in").asString(), Formula.parse(text, extension.formulaNames()));
      } catch (FormulaException e) {
        throw new IllegalStateException(e);
      }
    }
    return new KernelVerification.Expected(expected, node.path("tolerance").asDouble(0));
  }

  private KernelVerification entry(JsonNode node, KernelExtension extension) {
    List<String> buffers = extension.buffers().stream().map(KernelBuffer::name).toList();
    List<String> known = new ArrayList<>(KernelVerification.Entry.PARAMETERS);
    known.addAll(KernelExtension.VARIABLES);
    known.addAll(buffers);
    extension.settings().forEach(setting -> known.add(setting.name()));
    List<String> parameters = Schema.strings(node.path("parameters"));
    checkKnown("/verify/parameters", parameters, known, positions, problems);
    if (!parameters.contains("status")) {
      problem(
          VERIFY,
          "the entry gets no status words, so that nobody learns what it found",
          "add status to its parameters");
    }
    return new KernelVerification.Entry(
        node.get("entry").asString(),
        parameters,
        node.path("threads").asInt(32),
        parameters.stream().filter(buffers::contains).toList());
  }

  private void checkBuffer(String name, String pointer, KernelExtension extension) {
    List<String> buffers = extension.buffers().stream().map(KernelBuffer::name).toList();
    if (!buffers.contains(name)) {
      problems.add(Suggestions.unknown(positions.ofValue(pointer), "buffer", name, buffers));
    }
  }

  /** Adds a problem for each parameter that is none. */
  static void checkKnown(
      String pointer,
      List<String> parameters,
      List<String> known,
      SourcePositions positions,
      List<Problem> problems) {
    for (int i = 0; i < parameters.size(); i++) {
      if (!known.contains(parameters.get(i))) {
        problems.add(
            Suggestions.unknown(
                positions.ofValue(pointer + "/" + i), "parameter", parameters.get(i), known));
      }
    }
  }
}
