package dev.doorbell.experiments.config.kernel;

import static dev.doorbell.experiments.config.document.SourcePositions.child;

import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.config.document.SourcePositions;
import dev.doorbell.experiments.config.document.SourcePositions.ProblemPosition;
import dev.doorbell.experiments.config.document.YamlDocument;
import dev.doorbell.experiments.config.kernel.KernelExtension.KernelBuffer;
import dev.doorbell.experiments.config.kernel.KernelExtension.KernelMetric;
import dev.doorbell.experiments.config.schema.Schema;
import dev.doorbell.experiments.config.schema.SchemaChecker;
import dev.doorbell.experiments.config.schema.SchemaChecker.Suggestions;
import dev.doorbell.experiments.config.value.Sizes;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** Turns the text of a kernel's descriptor into a {@link KernelDescriptor}. */
public final class KernelDescriptorReader {
  private static final String LAUNCH = "/launch";

  /** The numbers that a world to explore may give besides settings. */
  private static final List<String> WORLD =
      List.of("ranks", "blocks", "threads", "ring", "iterations");

  private static final JsonNode SCHEMA = Schema.load("kernel");
  private static final SchemaChecker CHECKER = new SchemaChecker(SCHEMA);

  private final Schema experiments;

  public KernelDescriptorReader() {
    this(Schema.experiment());
  }

  private KernelDescriptorReader(Schema experiments) {
    this.experiments = experiments;
  }

  /**
   * A reader of what a run kept: settings and metrics that experiments have got since may have the
   * names of its own.
   */
  public static KernelDescriptorReader ofRuns() {
    return new KernelDescriptorReader(Schema.of(JsonNodeFactory.instance.objectNode()));
  }

  /**
   * Reads a descriptor.
   *
   * @param file name to be shown in problems
   * @throws ConfigException with every problem at once
   */
  public KernelDescriptor read(String file, String text) throws ConfigException {
    return read(file, text, List.of());
  }

  /**
   * Reads a descriptor with other defaults of its own settings.
   *
   * @param file name to be shown in problems
   * @param settings each as {@code name=value}
   * @throws ConfigException with every problem at once
   */
  public KernelDescriptor read(String file, String text, List<String> settings)
      throws ConfigException {
    YamlDocument.Parsed document = YamlDocument.parse(file, text, "kernel descriptor");
    SourcePositions positions = document.positions();
    ObjectNode root = document.root();
    List<Problem> problems = new ArrayList<>();
    settings.forEach(setting -> set(root, setting, problems));
    problems.addAll(CHECKER.check(root, positions));
    List<String> fields = Schema.strings(SCHEMA.at("/properties/parameters/x-fields"));
    List<String> parameters = parameters(root, fields, positions, problems);
    KernelExtension extension =
        problems.isEmpty()
            ? new KernelExtensionReader(root, fields, experiments, positions, problems).read()
            : KernelExtension.NONE;
    List<KernelStructure> structures =
        problems.isEmpty()
            ? new KernelStructureReader(root, extension.multicasts(), positions, problems).read()
            : List.of();
    if (!problems.isEmpty()) {
      problems.sort(Comparator.comparing(ProblemPosition::of));
      throw new ConfigException(problems);
    }
    String name = root.get("kernel").asString();
    JsonNode ptx = root.path("ptx");
    List<String> files = ptx.isArray() ? Schema.strings(ptx) : List.of(ptx.asString(name + ".ptx"));
    JsonNode launch = root.path("launch");
    KernelDescriptor descriptor =
        new KernelDescriptor(
            name,
            root.get("description").asString().strip(),
            files.getFirst(),
            files.subList(1, files.size()),
            root.path("source").asString(""),
            root.path("entry").asString(name),
            Optional.ofNullable(root.get("isa")).map(JsonNode::asString),
            parameters,
            new KernelDescriptor.Launch(
                constant(KernelDescriptor.Ranks.class, value(launch, LAUNCH, "ranks")),
                value(launch, LAUNCH, "blocks").asInt(),
                value(launch, LAUNCH, "threads").asInt(0),
                value(launch, LAUNCH, "shared").asInt(),
                value(launch, LAUNCH, "cooperative").asBoolean(),
                slots(value(launch, LAUNCH, "slots")),
                value(launch, LAUNCH, "posters").asString().equals("many"),
                value(launch, LAUNCH, "signals").asInt(),
                value(launch, LAUNCH, "nvlink").asBoolean()),
            new LinkedHashSet<>(Schema.strings(root.path("paths"))),
            constant(KernelDescriptor.Measures.class, root.get("measures")),
            verify(root),
            structures,
            extension,
            worlds(root.path("explore")),
            settings.isEmpty() ? text : root.toString(), // JSON is YAML
            positions::ofValue);
    new Combinations(descriptor, problems).check();
    ConfigException.throwIfAny(problems);
    return descriptor;
  }

  private static void set(ObjectNode root, String setting, List<Problem> problems) {
    String where = "-s " + setting;
    int equals = setting.indexOf('=');
    String name = setting.substring(0, Math.max(0, equals)).strip();
    String value = setting.substring(equals + 1).strip();
    List<String> known = List.copyOf(root.path("settings").propertyNames());
    if (equals < 0) {
      problems.add(
          Problem.of("DB-C040", where, "a setting is given as name=value")
              .fix("its settings: " + String.join(", ", known)));
    } else if (!(root.at("/settings").get(name) instanceof ObjectNode node)) {
      problems.add(
          Suggestions.unknown(where, "setting of the kernel", name, known)
              .fix(
                  known.isEmpty()
                      ? "its descriptor has no settings"
                      : "its settings: " + String.join(", ", known)));
    } else if (Sizes.parse(value).isPresent()) {
      node.put("default", Sizes.parse(value).orElseThrow());
    } else {
      try {
        node.put("default", Double.parseDouble(value));
      } catch (NumberFormatException _) {
        problems.add(Problem.of("DB-C015", where, "'%s' is no number".formatted(value)));
      }
    }
  }

  /** Reads what parameters name; nothing where the schema speaks. */
  private List<String> parameters(
      ObjectNode root, List<String> fields, SourcePositions positions, List<Problem> problems) {
    JsonNode given = value(root, "", "parameters");
    if (!given.isArray()) {
      return List.of();
    }
    List<String> known = new ArrayList<>(fields);
    for (String section : List.of("settings", "metrics", "buffers", "args")) {
      known.addAll(root.path(section).propertyNames());
    }
    for (JsonNode buffer : root.path("buffers")) {
      if (buffer.has("multicast")) {
        known.add(buffer.get("multicast").asString());
      }
    }
    List<String> parameters = Schema.strings(given);
    KernelExtensionReader.checkKnown("/parameters", parameters, known, positions, problems);
    return parameters;
  }

  private static <E extends Enum<E>> E constant(Class<E> type, JsonNode word) {
    return Enum.valueOf(type, word.asString().toUpperCase(Locale.ROOT));
  }

  /** Returns the slots of a word; of 1, one message for each block. */
  private static KernelDescriptor.Slots slots(JsonNode word) {
    return word.isString()
        ? constant(KernelDescriptor.Slots.class, word)
        : KernelDescriptor.Slots.BLOCKS;
  }

  private KernelDescriptor.Verify verify(JsonNode root) {
    JsonNode verify = value(root, "", "verify");
    return verify.isObject()
        ? KernelDescriptor.Verify.OWN
        : constant(KernelDescriptor.Verify.class, verify);
  }

  /** Refuses combinations of keys that are legal one by one. */
  private record Combinations(KernelDescriptor descriptor, List<Problem> problems) {
    private void refuse(boolean when, String pointer, String what, String fix) {
      if (when) {
        problems.add(Problem.of("DB-K011", descriptor.place(pointer), what).fix(fix));
      }
    }

    private boolean reaches(String field) {
      return descriptor.parameters().contains("job") || descriptor.parameters().contains(field);
    }

    /** Refuses what needs a field that no parameter gets. */
    private void require(boolean when, String field, String pointer, String what) {
      refuse(
          when && !reaches(field),
          pointer,
          "it %s, but gets neither the job nor its %s".formatted(what, field),
          "add %s to parameters".formatted(field));
    }

    void check() {
      KernelDescriptor.Launch launch = descriptor.launch();
      KernelDescriptor.Verify verify = descriptor.verify();
      checkRanks(launch, verify);
      checkExtension();
      refuse(
          verify == KernelDescriptor.Verify.BOTH && launch.ranks() == KernelDescriptor.Ranks.SENDER,
          "/verify",
          "verify is both, but only the sender runs: nothing arrives at rank 0",
          "verify: receiver, or launch: { ranks: both }");
      KernelDescriptor.Measures measures = descriptor.measures();
      require(
          measures == KernelDescriptor.Measures.LATENCY,
          "samples",
          "/parameters",
          "measures latency");
      require(
          measures == KernelDescriptor.Measures.GOODPUT,
          "stamps",
          "/parameters",
          "measures goodput");
      require(launch.signals() > 0, "signals", "/launch/signals", "has signal words");
      checkWorlds(launch);
      if (!reaches("status")) {
        problems.add(
            Problem.of(
                    "DB-K011",
                    descriptor.place("/parameters"),
                    "it gets neither the job nor its status words")
                .effect("whether it ended well could not be told")
                .fix(
                    "add status to parameters; every thread writes one of DOORBELL_OK, ERROR_..."));
      }
    }

    private void checkRanks(KernelDescriptor.Launch launch, KernelDescriptor.Verify verify) {
      boolean all = launch.allRanks();
      boolean judged = verify != KernelDescriptor.Verify.OWN;
      refuse(
          judged && all && !verify.ofAll(),
          "/verify",
          "it runs at all ranks, and verify speaks of two",
          "verify: alltoall, allgather, gather or shift");
      refuse(
          judged && !all && verify.ofAll(),
          "/verify",
          "verify speaks of all ranks, and it runs at two",
          "launch: { ranks: all }, or verify: receiver or both");
      refuse(
          all && launch.slots() != KernelDescriptor.Slots.BLOCKS,
          "/launch/slots",
          "at all ranks, payload and inbox hold a message for each rank",
          "leave slots out");
      boolean told = !descriptor.extension().multicasts().isEmpty();
      refuse(
          all && !told && !reaches("peers"),
          "/parameters",
          "it runs at all ranks, but gets neither the job nor its peers",
          "add peers, role and qp_count to parameters");
    }

    /** Refuses metrics, buffers and structures that no parameter gets: they would be of no use. */
    private void checkExtension() {
      Map<String, String> needed = new LinkedHashMap<>();
      for (KernelMetric metric : descriptor.extension().metrics()) {
        needed.put(metric.name(), child("/metrics", metric.name()));
      }
      for (KernelBuffer buffer : descriptor.extension().buffers()) {
        String pointer = child("/buffers", buffer.name());
        String multicast = buffer.multicast();
        if (multicast == null) {
          needed.put(buffer.name(), pointer);
        } else if (!isNamed(KernelStructure.MULTICAST + multicast)) {
          needed.put(multicast, pointer + "/multicast");
        }
      }
      for (KernelStructure structure : descriptor.structures()) {
        if (structure.symbol().isEmpty() && !isNamed("args." + structure.name())) {
          needed.put(structure.name(), child("/args", structure.name()));
        }
      }
      needed.forEach(
          (name, pointer) ->
              refuse(
                  !descriptor.parameters().contains(name),
                  pointer,
                  "'%s' is no parameter of the kernel".formatted(name),
                  "add %s to parameters".formatted(name)));
    }

    private boolean isNamed(String name) {
      return descriptor.structures().stream()
          .flatMap(structure -> structure.fields().stream())
          .flatMap(field -> field.values().stream())
          .anyMatch(value -> value.toString().contains(name));
    }

    private void checkWorlds(KernelDescriptor.Launch launch) {
      List<String> known = new ArrayList<>(WORLD);
      descriptor.extension().settings().forEach(setting -> known.add(setting.name()));
      for (int i = 0; i < descriptor.worlds().size(); i++) {
        for (String name : descriptor.worlds().get(i).keySet()) {
          String pointer = "/explore/%d/%s".formatted(i, name);
          if (!known.contains(name)) {
            problems.add(
                Suggestions.unknown(descriptor.place(pointer), "number of a world", name, known));
          }
          refuse(
              name.equals(WORLD.getFirst()) && !launch.allRanks(),
              pointer,
              "it runs at two ranks",
              "launch: { ranks: all }, or leave ranks out");
        }
      }
    }
  }

  private static List<Map<String, String>> worlds(JsonNode list) {
    List<Map<String, String>> worlds = new ArrayList<>();
    for (JsonNode world : list) {
      Map<String, String> numbers = new LinkedHashMap<>();
      world.forEachEntry((name, value) -> numbers.put(name, value.asString()));
      worlds.add(numbers);
    }
    return worlds;
  }

  private JsonNode value(JsonNode node, String parent, String key) {
    JsonNode given = node.get(key);
    if (given != null) {
      return given;
    }
    String pointer = (parent.isEmpty() ? "" : "/properties" + parent) + "/properties/" + key;
    return SCHEMA.at(pointer).required("default");
  }
}
