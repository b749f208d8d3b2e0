package dev.doorbell.experiments.config;

import dev.doorbell.core.fault.FaultPlan;
import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.config.ExperimentConfig.Until;
import dev.doorbell.experiments.config.SettingsReader.RelativeTopologies;
import dev.doorbell.experiments.config.condition.Expectation.Contrast;
import dev.doorbell.experiments.config.document.SourcePositions;
import dev.doorbell.experiments.config.document.SourcePositions.ProblemPosition;
import dev.doorbell.experiments.config.document.YamlDocument;
import dev.doorbell.experiments.config.figure.FigureReader;
import dev.doorbell.experiments.config.figure.FigureSpec;
import dev.doorbell.experiments.config.kernel.KernelExtension;
import dev.doorbell.experiments.config.kernel.KernelExtension.KernelMetric;
import dev.doorbell.experiments.config.kernel.KernelExtension.KernelSetting;
import dev.doorbell.experiments.config.schema.Schema;
import dev.doorbell.experiments.config.schema.SchemaChecker;
import dev.doorbell.experiments.config.schema.Vocabulary;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** Turns the text of an experiment file, with the command line's changes, into a config. */
public final class ConfigReader {
  private static final Pattern KERNELS = Pattern.compile("\\s*(?:axes[.])?kernel\\s*=\\s*(.*)");

  private final Schema schema;
  private final SchemaChecker checker;
  private final Vocabulary vocabulary;
  private final Map<String, KernelExtension> extensions;
  private final Map<String, KernelMetric> brought;

  public ConfigReader(Vocabulary vocabulary) {
    this(vocabulary, Map.of());
  }

  /** A reader of experiments that may name the user's kernels. */
  public ConfigReader(Vocabulary vocabulary, Map<String, KernelExtension> extensions) {
    this(Schema.experiment(), vocabulary, extensions, Map.of());
  }

  ConfigReader(Schema schema, Vocabulary vocabulary) {
    this(schema, vocabulary, Map.of(), Map.of());
  }

  private ConfigReader(
      Schema schema,
      Vocabulary vocabulary,
      Map<String, KernelExtension> extensions,
      Map<String, KernelMetric> brought) {
    this.schema = schema;
    this.checker = schema.checker();
    this.vocabulary = vocabulary;
    this.extensions = Map.copyOf(extensions);
    this.brought = Map.copyOf(brought);
  }

  /**
   * A reader of what a run kept of its experiment. Settings that did not exist then have the value
   * that means what runs did before them, which need not be today's default.
   */
  public static ConfigReader ofRuns(Map<String, KernelExtension> extensions) {
    return new ConfigReader(
        Schema.experiment().asBefore(), Vocabulary.anything(), extensions, Map.of());
  }

  private ConfigReader extended(ObjectNode root, List<String> overrides) {
    List<String> kernels = new ArrayList<>();
    for (JsonNode words : List.of(root.path("kernel"), root.path("axes").path("kernel"))) {
      kernels.addAll(words.isArray() ? Schema.strings(words) : List.of(words.asString("")));
    }
    for (String override : overrides) {
      Matcher kernel = KERNELS.matcher(override);
      if (kernel.matches()) {
        kernels.clear();
        kernels.addAll(List.of(kernel.group(1).strip().split("\\s*,\\s*")));
      }
    }
    List<KernelExtension> named =
        kernels.stream().distinct().map(extensions::get).filter(Objects::nonNull).toList();
    Schema with = ExtendedSchema.of(schema, named);
    Map<String, KernelMetric> metrics = new LinkedHashMap<>();
    named.forEach(one -> one.metrics().forEach(metric -> metrics.put(metric.name(), metric)));
    return with == schema ? this : new ConfigReader(with, vocabulary, Map.of(), metrics);
  }

  /**
   * Reads an experiment.
   *
   * @param file name to be shown in problems
   * @param overrides texts of {@code -s}, in their order
   * @throws ConfigException with every problem at once
   */
  public ExperimentConfig read(String file, String text, List<String> overrides)
      throws ConfigException {
    YamlDocument.Parsed document = YamlDocument.parse(file, text);
    return extended(document.root(), overrides).read(file, text, document, overrides);
  }

  private ExperimentConfig read(
      String file, String text, YamlDocument.Parsed document, List<String> overrides)
      throws ConfigException {
    ObjectNode root = document.root();
    SourcePositions positions = document.positions();
    RelativeTopologies.resolve(file, root);
    ConfigHash.dropGone(root);
    List<Problem> problems = new ArrayList<>();
    Overrides changes = new Overrides(schema, root, positions, problems);
    overrides.forEach(changes::apply);
    problems.addAll(checker.check(root, positions));
    boolean sound = problems.isEmpty();
    FaultPlan faults = FaultPlan.NONE;
    if (sound) {
      try {
        long seed = root.path("seed").asLong(schema.standard("/properties/seed").longValue());
        faults = FaultSection.read(file, root, positions, seed);
      } catch (ConfigException e) {
        problems.addAll(e.problems());
      }
    }
    SettingsReader settings = SettingsReader.read(schema, vocabulary, root, positions, problems);
    if (!sound || !problems.isEmpty()) {
      throw new ConfigException(
          problems.stream().distinct().sorted(Comparator.comparing(ProblemPosition::of)).toList());
    }
    return assemble(root, settings, faults, text, positions);
  }

  private ExperimentConfig assemble(
      ObjectNode root,
      SettingsReader settings,
      FaultPlan faults,
      String text,
      SourcePositions positions) {
    ObjectNode resolved = new Resolver(schema).resolve(root, settings);
    JsonNode measure = resolved.get("measure");
    return new ExperimentConfig(
        resolved.get("experiment").asString(),
        resolved.get("question").asString(),
        resolved.path("expectation").asString(""),
        Schema.strings(resolved.get("kernel")),
        resolved.get("gpu").asString(),
        resolved.get("hca").asString(),
        resolved.get("clock").asString(),
        resolved.get("seed").longValue(),
        settings.axes(),
        settings.fixed(),
        settings.exclude(),
        new ExperimentConfig.Measure(
            Schema.strings(measure.get("metrics")),
            measure.get("warmup").intValue(),
            measure.get("samples").intValue(),
            measure.path("launches").asInt(measure.get("samples").intValue()),
            measure.path("repeat").asInt(1),
            measure.path("processes").asInt(1),
            Until.parse(measure.path("until").asString("")).orElse(null),
            duration(measure.get("timeout").asString())),
        brought,
        figures(resolved.path("outputs").path("figures")),
        contrasts(resolved.path("outputs").path("crossovers")),
        settings.expectations(),
        faults,
        text,
        Resolver.yaml(resolved),
        ConfigHash.of(schema, resolved),
        positions);
  }

  private static List<FigureSpec> figures(JsonNode list) {
    List<FigureSpec> figures = new ArrayList<>();
    list.forEach(node -> figures.add(FigureReader.ofConfig(node)));
    return figures;
  }

  private static List<Contrast> contrasts(JsonNode list) {
    List<Contrast> contrasts = new ArrayList<>();
    for (JsonNode node : list) {
      contrasts.add(
          new Contrast(
              node.get("metric").asString(),
              node.get("over").asString(),
              node.get("axis").asString(),
              node.get("between").get(0).asString(),
              node.get("between").get(1).asString(),
              node.path("by").asString("")));
    }
    return contrasts;
  }

  /** The schema has checked the form: a whole number and ms, s or min. */
  private static Duration duration(String text) {
    int digits = 0;
    while (Character.isDigit(text.charAt(digits))) {
      digits++;
    }
    long number = Long.parseLong(text.substring(0, digits));
    return switch (text.substring(digits)) {
      case "ms" -> Duration.ofMillis(number);
      case "s" -> Duration.ofSeconds(number);
      case "min" -> Duration.ofMinutes(number);
      default -> throw new IllegalStateException("the schema let through the time " + text);
    };
  }

  /** The schema of experiments with the settings and metrics that kernels bring. */
  private static final class ExtendedSchema {
    private static final JsonNodeFactory JSON = JsonNodeFactory.instance;

    private ExtendedSchema() {}

    /** The same schema where the kernels bring nothing. */
    static Schema of(Schema schema, Collection<KernelExtension> extensions) {
      if (extensions.stream()
          .allMatch(one -> one.settings().isEmpty() && one.metrics().isEmpty())) {
        return schema;
      }
      ObjectNode root = (ObjectNode) schema.root().deepCopy();
      for (KernelExtension extension : extensions) {
        extension.settings().forEach(setting -> add(root, setting));
        extension.metrics().forEach(metric -> add(root, metric));
      }
      return Schema.of(root);
    }

    private static void add(ObjectNode root, KernelSetting setting) {
      ObjectNode node = JSON.objectNode();
      node.put("description", setting.description());
      if (setting.type().decimal()) {
        node.put("type", "number");
        node.put("minimum", setting.least());
        node.put("maximum", setting.most());
      } else {
        // As counts are, from wherever its range begins.
        ObjectNode count = object(root, "/$defs/count").deepCopy();
        count.remove("minimum");
        node.setAll(count);
        node.put("minimum", (long) setting.least());
        node.put("maximum", (long) setting.most());
      }
      node.put("x-unit", setting.unit());
      node.set("default", JSON.numberNode(KernelSetting.number(setting.standard())));
      if (!setting.type().decimal()) {
        node.put("default", (long) KernelSetting.number(setting.standard()));
      }
      object(root, "/$defs/setting").set(setting.name(), node);
    }

    private static void add(ObjectNode root, KernelMetric metric) {
      ObjectNode metrics = object(root, "/$defs/metric");
      String unit = metric.unit().isEmpty() ? "" : ", " + metric.unit();
      String meaning = metric.description() + "; sampled" + unit;
      JsonNode known = metrics.get("x-values").get(metric.name());
      if (known == null) {
        ((ArrayNode) metrics.get("enum")).add(metric.name());
        ((ArrayNode) metrics.get("x-sampled")).add(metric.name());
      }
      ((ObjectNode) metrics.get("x-values")).put(metric.name(), meaning);
    }

    private static ObjectNode object(ObjectNode root, String pointer) {
      return (ObjectNode) root.at(pointer);
    }
  }
}
