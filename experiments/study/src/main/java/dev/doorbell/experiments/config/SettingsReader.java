package dev.doorbell.experiments.config;

import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.config.ExperimentConfig.Until;
import dev.doorbell.experiments.config.condition.Expectation;
import dev.doorbell.experiments.config.condition.ExpectationReader;
import dev.doorbell.experiments.config.condition.PointCondition;
import dev.doorbell.experiments.config.condition.PointCondition.ConditionReader;
import dev.doorbell.experiments.config.document.SourcePositions;
import dev.doorbell.experiments.config.figure.FigureReader;
import dev.doorbell.experiments.config.schema.Schema;
import dev.doorbell.experiments.config.schema.Schema.Setting;
import dev.doorbell.experiments.config.schema.SchemaChecker.Suggestions;
import dev.doorbell.experiments.config.schema.Vocabulary;
import dev.doorbell.experiments.config.value.Axis;
import dev.doorbell.experiments.config.value.Sweep;
import dev.doorbell.experiments.config.value.Value;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.Set;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * The parts of a config that the schema cannot judge: sweeps, sizes, words that the runtime brings,
 * and references from one part to another.
 */
final class SettingsReader {
  private static final long MOST_POINTS = 100_000;
  private static final String KERNEL = "kernel";
  private static final String KERNEL_AXIS = "/axes/kernel";

  private final Schema schema;
  private final Vocabulary vocabulary;
  private final SourcePositions positions;
  private final List<Problem> problems;
  private final List<String> kernels = new ArrayList<>();
  private final List<Axis> axes = new ArrayList<>();
  private final SequencedMap<String, Value> fixed = new LinkedHashMap<>();
  private final List<List<PointCondition>> exclude = new ArrayList<>();
  private final List<Expectation> expectations = new ArrayList<>();

  private SettingsReader(
      Schema schema, Vocabulary vocabulary, SourcePositions positions, List<Problem> problems) {
    this.schema = schema;
    this.vocabulary = vocabulary;
    this.positions = positions;
    this.problems = problems;
  }

  /**
   * Reads whatever is sound, so that as many problems as possible are said at once; what the schema
   * refuses is passed over here.
   */
  static SettingsReader read(
      Schema schema,
      Vocabulary vocabulary,
      JsonNode root,
      SourcePositions positions,
      List<Problem> problems) {
    SettingsReader settings = new SettingsReader(schema, vocabulary, positions, problems);
    settings.readKernels(root);
    settings.readAxes(root.path("axes"));
    settings.readFixed(root.path("fixed"));
    settings.readExclude(root.path("exclude"));
    settings.expectations.addAll(
        new ExpectationReader(settings.axes, positions, problems).read(root.path("expect")));
    settings.checkUntil(root.path("measure"));
    settings.checkOutputs(root.path("outputs"), root.path("measure").path("metrics"));
    settings.checkPointCount();
    return settings;
  }

  List<String> kernels() {
    return kernels;
  }

  List<Axis> axes() {
    return axes;
  }

  SequencedMap<String, Value> fixed() {
    return fixed;
  }

  List<List<PointCondition>> exclude() {
    return exclude;
  }

  List<Expectation> expectations() {
    return expectations;
  }

  private void readKernels(JsonNode root) {
    List<String> together = readKernels(root.path(KERNEL), "/" + KERNEL);
    List<String> axis = readKernels(root.path("axes").path(KERNEL), KERNEL_AXIS);
    if (!together.isEmpty() && !axis.isEmpty() && !together.equals(axis)) {
      problem("DB-C031", KERNEL_AXIS, "'kernel' is both an axis and at the top of the file");
    }
    kernels.addAll(axis.isEmpty() ? together : axis);
  }

  private List<String> readKernels(JsonNode node, String pointer) {
    List<String> words = new ArrayList<>();
    if (node.isString()) {
      words.add(node.stringValue());
      checkWord(KERNEL, KERNEL, node.stringValue(), pointer);
    }
    for (int i = 0; node.isArray() && i < node.size(); i++) {
      if (node.get(i).isString()) {
        words.add(node.get(i).stringValue());
        checkWord(KERNEL, KERNEL, node.get(i).stringValue(), pointer + "/" + i);
      }
    }
    return words;
  }

  private void readAxes(JsonNode node) {
    for (Map.Entry<String, JsonNode> entry : node.properties()) {
      if (entry.getKey().equals(KERNEL)) {
        axes.add(new Axis(KERNEL, "", kernels.stream().<Value>map(Value.Text::new).toList()));
        continue;
      }
      Setting setting = schema.settings().get(entry.getKey());
      if (setting == null) {
        continue;
      }
      String pointer = SourcePositions.child("/axes", entry.getKey());
      List<Value> values = new ArrayList<>();
      if (entry.getValue().isArray()) {
        for (int i = 0; i < entry.getValue().size(); i++) {
          readValue(setting, entry.getValue().get(i), pointer + "/" + i, values);
        }
      } else {
        readValue(setting, entry.getValue(), pointer, values);
      }
      checkDistinct(setting, values, pointer);
      axes.add(new Axis(setting.name(), setting.unit(), values));
    }
  }

  private void checkDistinct(Setting setting, List<Value> values, String pointer) {
    Set<Value> seen = new HashSet<>();
    for (Value value : values) {
      if (!seen.add(value)) {
        problem("DB-C016", pointer, "axis %s has %s twice".formatted(setting.name(), value.text()));
      }
    }
  }

  private void readFixed(JsonNode node) {
    for (Setting setting : schema.settings().values()) {
      String pointer = SourcePositions.child("/fixed", setting.name());
      boolean isAxis = axes.stream().anyMatch(axis -> axis.name().equals(setting.name()));
      if (isAxis && node.has(setting.name())) {
        problems.add(
            Problem.of(
                "DB-C031",
                positions.ofKey(pointer),
                "'%s' is both an axis (%s) and fixed"
                    .formatted(
                        setting.name(),
                        positions.ofKey(SourcePositions.child("/axes", setting.name())))));
      } else if (node.has(setting.name())) {
        List<Value> values = new ArrayList<>();
        readValue(setting, node.get(setting.name()), pointer, values);
        if (values.size() > 1) {
          problem(
              "DB-C032",
              pointer,
              "%s has %d values; a sweep belongs under axes"
                  .formatted(setting.name(), values.size()));
        } else if (!values.isEmpty()) {
          fixed.put(setting.name(), values.getFirst());
        }
      } else if (!isAxis) {
        fixed.put(setting.name(), setting.standard());
      }
    }
  }

  /** Adds what one node means, or says what is wrong with it; silent where the schema speaks. */
  private void readValue(Setting setting, JsonNode node, String pointer, List<Value> values) {
    switch (setting.kind()) {
      case FLAG -> {
        if (node.isBoolean()) {
          values.add(new Value.Flag(node.booleanValue()));
        }
      }
      case WORD -> {
        if (node.isString()) {
          String word = node.stringValue();
          if (setting.vocabulary() != null) {
            checkWord(setting.vocabulary(), setting.name(), word, pointer);
          }
          values.add(new Value.Text(word));
        }
      }
      case NUMBER -> readNumbers(setting, node, pointer, values);
    }
  }

  private void readNumbers(Setting setting, JsonNode node, String pointer, List<Value> values) {
    if (node.isIntegralNumber()) {
      values.add(new Value.Whole(node.longValue()));
      checkPowerOfTwo(setting, node.longValue(), pointer);
    } else if (node.isNumber()) {
      values.add(new Value.Real(node.doubleValue()));
    } else if (node.isString() && setting.numbers().isEmpty()) {
      switch (Sweep.parse(node.stringValue())) {
        case Sweep.Result.Wrong(String reason) -> {
          if (Sweep.isCall(node.stringValue())) {
            problem("DB-C015", pointer, reason);
          }
        }
        case Sweep.Result.Numbers(List<Long> numbers) -> {
          for (long number : numbers) {
            checkRange(setting, number, pointer);
            checkPowerOfTwo(setting, number, pointer);
            values.add(new Value.Whole(number));
          }
        }
      }
    }
  }

  private void checkRange(Setting setting, long number, String pointer) {
    if (number < setting.min() || number > setting.max()) {
      problem(
          "DB-C014",
          pointer,
          "%s %d is out of range (at least %d, at most %d)"
              .formatted(setting.name(), number, setting.min(), setting.max()));
    }
  }

  private void checkPowerOfTwo(Setting setting, long number, String pointer) {
    if (setting.powerOfTwo() && Long.bitCount(number) != 1) {
      problem("DB-C014", pointer, "%s %d is not a power of two".formatted(setting.name(), number));
    }
  }

  private void checkWord(String vocabularyName, String name, String word, String pointer) {
    List<String> known = vocabulary.words(vocabularyName);
    if (known == null) {
      return;
    }
    if (vocabularyName.equals("topology") && RelativeTopologies.isFile(word)) {
      if (!Files.isReadable(Path.of(word))) {
        problem(
            "DB-C001",
            pointer,
            "topology file %s cannot be read, neither from here nor from the experiment's folder"
                .formatted(word));
      }
    } else if (!known.contains(word)) {
      problems.add(Suggestions.unknown(positions.ofValue(pointer), name, word, known));
    }
  }

  private void readExclude(JsonNode node) {
    Set<String> names = new LinkedHashSet<>(schema.settings().keySet());
    axes.forEach(axis -> names.add(axis.name()));
    ConditionReader reader = new ConditionReader("setting", names, positions, problems);
    for (int i = 0; node.isArray() && i < node.size(); i++) {
      exclude.add(reader.read(node.get(i), "/exclude/" + i));
    }
  }

  private void checkOutputs(JsonNode outputs, JsonNode metrics) {
    JsonNode figures = outputs.path("figures");
    for (int i = 0; figures.isArray() && i < figures.size(); i++) {
      String pointer = "/outputs/figures/" + i;
      checkAxis(figures.get(i), pointer, "x");
      checkAxis(figures.get(i), pointer, "series");
      checkAxis(figures.get(i), pointer, "facet");
      checkAxis(figures.get(i), pointer, "rows");
      FigureReader.complete(figures.get(i), pointer, axes, positions, problems);
      if (FigureReader.counts(figures.get(i))) {
        checkMeasured(figures.get(i), pointer, "y", metrics);
        checkMeasured(figures.get(i), pointer, "per", metrics);
      } else {
        checkSampled(figures.get(i), pointer, "y", metrics);
      }
    }
    JsonNode crossovers = outputs.path("crossovers");
    for (int i = 0; crossovers.isArray() && i < crossovers.size(); i++) {
      String pointer = "/outputs/crossovers/" + i;
      checkAxis(crossovers.get(i), pointer, "axis");
      checkAxis(crossovers.get(i), pointer, "over");
      checkAxis(crossovers.get(i), pointer, "by");
      checkSampled(crossovers.get(i), pointer, "metric", metrics);
    }
  }

  private void checkUntil(JsonNode measure) {
    String text = measure.path("until").asString("");
    if (text.isEmpty()) {
      return;
    }
    Optional<Until> until = Until.parse(text);
    if (until.isEmpty()) {
      problem(
          "DB-C042",
          "/measure/until",
          "'%s' is not a condition such as ci95(latency.p50)<2%%".formatted(text));
    } else if (schema.metrics().containsKey(until.get().metric())
        && !schema.isSampled(until.get().metric())) {
      problem("DB-C033", "/measure/until", until.get().metric() + " is counted, not sampled");
    } else if (!Schema.strings(measure.path("metrics")).contains(until.get().metric())) {
      problem("DB-C033", "/measure/until", until.get().metric() + " is not among measure.metrics");
    }
  }

  private void checkAxis(JsonNode node, String pointer, String key) {
    String name = node.path(key).asString("");
    if (!name.isEmpty() && axes.stream().noneMatch(axis -> axis.name().equals(name))) {
      problems.add(
          Suggestions.unknown(
              positions.ofValue(SourcePositions.child(pointer, key)),
              "axis",
              name,
              axes.stream().map(Axis::name).toList()));
    }
  }

  private void checkSampled(JsonNode node, String pointer, String key, JsonNode metrics) {
    String metric = node.path(key).asString("");
    if (!schema.metrics().containsKey(metric)) {
      return;
    }
    if (!schema.isSampled(metric)) {
      problem("DB-C033", pointer + "/" + key, "%s is counted, not sampled".formatted(metric));
    } else {
      checkMeasured(node, pointer, key, metrics);
    }
  }

  private void checkMeasured(JsonNode node, String pointer, String key, JsonNode metrics) {
    String metric = node.path(key).asString("");
    if (schema.metrics().containsKey(metric) && !Schema.strings(metrics).contains(metric)) {
      problem("DB-C033", pointer + "/" + key, "%s is not among measure.metrics".formatted(metric));
    }
  }

  private void checkPointCount() {
    long points = 1;
    for (Axis axis : axes) {
      points *= Math.max(1, axis.values().size());
      if (points > MOST_POINTS) {
        problems.add(
            Problem.of(
                    "DB-C034",
                    positions.ofKey("/axes"),
                    "the axes span more than %,d points".formatted(MOST_POINTS))
                .fix(
                    "fewer values of an axis, such as -s %s=%s"
                        .formatted(axis.name(), axis.values().getFirst().text())));
        return;
      }
    }
  }

  private void problem(String code, String pointer, String what) {
    problems.add(Problem.of(code, positions.ofValue(pointer), what));
  }

  /**
   * Topology files that an experiment names as seen from its own folder. They become paths as seen
   * from where the program was started, which is what a run keeps and what {@code -s} means; a file
   * that is there by the name as written is taken first.
   */
  static final class RelativeTopologies {
    private static final String KEY = "placement";

    private final Path experiment;

    private RelativeTopologies(Path experiment) {
      this.experiment = experiment;
    }

    /**
     * Rewrites the names in place, wherever the experiment speaks of a placement: as an axis, a
     * fixed setting, and in conditions.
     */
    static void resolve(String file, ObjectNode root) {
      try {
        new RelativeTopologies(Path.of(file)).walk(root);
      } catch (InvalidPathException _) {
        // An experiment without a place has no folder.
      }
    }

    /** Returns whether the value of a placement is meant as a file, not as a name. */
    static boolean isFile(String word) {
      return word.endsWith(".yaml") || word.endsWith(".json");
    }

    private void walk(JsonNode node) {
      if (node instanceof ArrayNode array) {
        array.forEach(this::walk);
      } else if (node instanceof ObjectNode object) {
        for (String key : List.copyOf(object.propertyNames())) {
          JsonNode value = object.get(key);
          if (!key.equals(KEY)) {
            walk(value);
          } else if (value instanceof ArrayNode array) {
            for (int i = 0; i < array.size(); i++) {
              if (array.get(i).isString()) {
                array.set(i, array.stringNode(found(array.get(i).stringValue())));
              }
            }
          } else if (value.isString()) {
            object.put(KEY, found(value.stringValue()));
          }
        }
      }
    }

    private String found(String word) {
      if (!isFile(word)) {
        return word;
      }
      try {
        Path beside = experiment.resolveSibling(word).normalize();
        return !Files.isReadable(Path.of(word)) && Files.isReadable(beside)
            ? beside.toString()
            : word;
      } catch (InvalidPathException _) {
        return word;
      }
    }
  }
}
