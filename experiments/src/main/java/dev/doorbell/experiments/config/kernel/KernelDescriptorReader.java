package dev.doorbell.experiments.config.kernel;

import static dev.doorbell.experiments.config.document.SourcePositions.child;

import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.config.document.ProblemPosition;
import dev.doorbell.experiments.config.document.SourcePositions;
import dev.doorbell.experiments.config.document.YamlDocument;
import dev.doorbell.experiments.config.schema.Schema;
import dev.doorbell.experiments.config.schema.SchemaChecker;
import dev.doorbell.experiments.config.schema.Suggestions;
import dev.doorbell.experiments.config.value.Sizes;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** Turns the text of a kernel's descriptor into a {@link KernelDescriptor}. */
public final class KernelDescriptorReader {
  private static final String LAUNCH = "/launch";

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
    boolean shared = value(launch, LAUNCH, "posters").asString().equals("many");
    KernelDescriptor descriptor =
        new KernelDescriptor(
            name,
            root.get("description").asString().strip(),
            files.getFirst(),
            files.subList(1, files.size()),
            root.path("source").asString(""),
            root.path("entry").asString(name),
            Optional.ofNullable(root.get("isa")).map(JsonNode::asString),
            Optional.ofNullable(root.get("api")).map(JsonNode::asString).map(DeviceApi::of),
            parameters,
            new KernelDescriptor.Launch(
                KernelDescriptor.Ranks.valueOf(
                    value(launch, LAUNCH, "ranks").asString().toUpperCase(Locale.ROOT)),
                value(launch, LAUNCH, "blocks").asInt(),
                value(launch, LAUNCH, "threads").asInt(0),
                value(launch, LAUNCH, "shared").asInt(),
                value(launch, LAUNCH, "cooperative").asBoolean(),
                slots(value(launch, LAUNCH, "slots").asString()),
                shared,
                value(launch, LAUNCH, "signals").asInt(),
                value(launch, LAUNCH, "nvlink").asBoolean()),
            new LinkedHashSet<>(Schema.strings(root.path("paths"))),
            KernelDescriptor.Measures.valueOf(
                root.get("measures").asString().toUpperCase(Locale.ROOT)),
            verify(root),
            structures,
            extension,
            comparison(root.path("compare"), shared),
            settings.isEmpty() ? text : root.toString(), // JSON is YAML
            positions::ofValue);
    checkTogether(descriptor);
    return descriptor;
  }

  /** Changes the default of one of the kernel's settings. */
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

  /** What parameters name; nothing where the schema speaks. */
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

  private KernelDescriptor.Verify verify(JsonNode root) {
    JsonNode verify = value(root, "", "verify");
    return verify.isObject()
        ? KernelDescriptor.Verify.OWN
        : KernelDescriptor.Verify.valueOf(verify.asString().toUpperCase(Locale.ROOT));
  }

  /** Metrics, buffers and structures that no parameter gets would be used by nobody. */
  private static void checkExtension(KernelDescriptor descriptor, List<Problem> problems) {
    KernelExtension extension = descriptor.extension();
    Map<String, String> needed = new LinkedHashMap<>();
    extension
        .metrics()
        .forEach(metric -> needed.put(metric.name(), child("/metrics", metric.name())));
    for (KernelBuffer buffer : extension.buffers()) {
      String pointer = child("/buffers", buffer.name());
      String multicast = buffer.multicast();
      if (multicast == null) {
        needed.put(buffer.name(), pointer);
      } else if (!isNamed(KernelStructure.MULTICAST + multicast, descriptor)) {
        needed.put(multicast, pointer + "/multicast");
      }
    }
    descriptor.structures().stream()
        .filter(structure -> !isReached(structure, descriptor))
        .forEach(structure -> needed.put(structure.name(), child("/args", structure.name())));
    needed.forEach(
        (name, pointer) -> {
          if (!descriptor.parameters().contains(name)) {
            problems.add(
                Problem.of(
                        "DB-K011",
                        descriptor.place(pointer),
                        "'%s' is no parameter of the kernel".formatted(name))
                    .fix("add %s to parameters".formatted(name)));
          }
        });
  }

  /** Whether a kernel finds a structure: in a variable, or by an address in another one. */
  private static boolean isReached(KernelStructure structure, KernelDescriptor descriptor) {
    return structure.symbol().isPresent() || isNamed("args." + structure.name(), descriptor);
  }

  /** Whether a value of a structure names something. */
  private static boolean isNamed(String name, KernelDescriptor descriptor) {
    return descriptor.structures().stream()
        .flatMap(structure -> structure.fields().stream())
        .flatMap(field -> field.values().stream())
        .anyMatch(value -> value.toString().contains(name));
  }

  /** Refuses combinations of keys that are legal one by one. */
  private static void checkTogether(KernelDescriptor descriptor) throws ConfigException {
    List<Problem> problems = new ArrayList<>();
    checkRanks(descriptor, problems);
    checkExtension(descriptor, problems);
    if (descriptor.verify() == KernelDescriptor.Verify.BOTH
        && descriptor.launch().ranks() == KernelDescriptor.Ranks.SENDER) {
      problems.add(
          Problem.of(
                  "DB-K011",
                  descriptor.place("/verify"),
                  "verify is both, but only the sender runs: nothing arrives at rank 0")
              .fix("verify: receiver, or launch: { ranks: both }"));
    }
    if (descriptor.measures() == KernelDescriptor.Measures.LATENCY
        && !reaches(descriptor, "samples")) {
      problems.add(
          Problem.of(
                  "DB-K011",
                  descriptor.place("/parameters"),
                  "it measures latency, but gets neither the job nor its samples")
              .fix("add samples to parameters"));
    }
    if (descriptor.measures() == KernelDescriptor.Measures.GOODPUT
        && !reaches(descriptor, "stamps")) {
      problems.add(
          Problem.of(
                  "DB-K011",
                  descriptor.place("/parameters"),
                  "it measures goodput, but gets neither the job nor its stamps")
              .fix("add stamps to parameters"));
    }
    if (descriptor.launch().signals() > 0 && !reaches(descriptor, "signals")) {
      problems.add(
          Problem.of(
                  "DB-K011",
                  descriptor.place("/launch/signals"),
                  "it has signal words, but gets neither the job nor its signals")
              .fix("add signals to parameters"));
    }
    checkComparison(descriptor, problems);
    if (descriptor.api().isPresent() && !descriptor.paths().equals(Set.of("pull"))) {
      problems.add(
          Problem.of(
                  "DB-K011",
                  descriptor.place("/api"),
                  "the code of %s takes the path pull alone"
                      .formatted(descriptor.api().get().word()))
              .effect("other paths are Doorbell's own: its queue pair flags and staging areas")
              .fix("paths: [pull]"));
    }
    if (!reaches(descriptor, "status")) {
      problems.add(
          Problem.of(
                  "DB-K011",
                  descriptor.place("/parameters"),
                  "it gets neither the job nor its status words")
              .effect("whether it ended well could not be told")
              .fix("add status to parameters; every thread writes one of DOORBELL_OK, ERROR_..."));
    }
    if (!problems.isEmpty()) {
      throw new ConfigException(problems);
    }
  }

  private static void checkRanks(KernelDescriptor descriptor, List<Problem> problems) {
    KernelDescriptor.Launch launch = descriptor.launch();
    if (descriptor.verify() != KernelDescriptor.Verify.OWN
        && launch.allRanks() != descriptor.verify().ofAll()) {
      problems.add(
          launch.allRanks()
              ? Problem.of(
                      "DB-K011",
                      descriptor.place("/verify"),
                      "it runs at all ranks, and verify speaks of two")
                  .fix("verify: alltoall, allgather, gather or shift")
              : Problem.of(
                      "DB-K011",
                      descriptor.place("/verify"),
                      "verify speaks of all ranks, and it runs at two")
                  .fix("launch: { ranks: all }, or verify: receiver or both"));
    }
    if (launch.allRanks() && launch.slots() != KernelDescriptor.Slots.BLOCKS) {
      problems.add(
          Problem.of(
                  "DB-K011",
                  descriptor.place("/launch/slots"),
                  "at all ranks, payload and inbox hold a message for each rank")
              .fix("leave slots out"));
    }
    boolean told =
        descriptor.api().map(DeviceApi::symmetric).orElse(false)
            || !descriptor.extension().multicasts().isEmpty();
    if (launch.allRanks() && !told && !reaches(descriptor, "peers")) {
      problems.add(
          Problem.of(
                  "DB-K011",
                  descriptor.place("/parameters"),
                  "it runs at all ranks, but gets neither the job nor its peers")
              .fix("add peers, role and qp_count to parameters"));
    }
    if (launch.nvlink()
        && !(launch.allRanks() && descriptor.api().equals(Optional.of(DeviceApi.NVSHMEM)))) {
      problems.add(
          Problem.of(
                  "DB-K011",
                  descriptor.place("/launch/nvlink"),
                  "only the structures of NVSHMEM say whether all ranks share a node")
              .fix("leave nvlink out, or api: nvshmem and ranks: all"));
    }
    if (launch.allRanks() && !descriptor.comparison().queuePairs().isEmpty()) {
      problems.add(
          Problem.of(
                  "DB-K011",
                  descriptor.place("/compare/queue_pairs"),
                  "at all ranks, there is a queue pair to each other rank")
              .fix("ranks: [2, 3]"));
    }
    if (!launch.allRanks() && !descriptor.comparison().ranks().isEmpty()) {
      problems.add(
          Problem.of("DB-K011", descriptor.place("/compare/ranks"), "it runs at two ranks")
              .fix("launch: { ranks: all }, or leave ranks out"));
    }
  }

  private static void checkComparison(KernelDescriptor descriptor, List<Problem> problems) {
    KernelComparison comparison = descriptor.comparison();
    if (descriptor.launch().shared() && comparison.posts() == KernelComparison.Posts.ORDERED) {
      problems.add(
          Problem.of(
                  "DB-K011",
                  descriptor.place("/compare/posts"),
                  "several threads post to a queue pair, so the order of their posts is chance")
              .fix("posts: unordered, or launch: { posters: one }"));
    }
    for (int i = 0; i < comparison.chance().size(); i++) {
      KernelComparison.Chance chance = comparison.chance().get(i);
      if (chance.memory().equals("signals") && descriptor.launch().signals() == 0) {
        problems.add(
            Problem.of(
                    "DB-K011",
                    descriptor.place("/compare/chance/%d/memory".formatted(i)),
                    "chance is in signals, and there are none")
                .fix("launch: { signals: N }, or another memory"));
      }
    }
    for (int i = 0; i < comparison.sizes().size(); i++) {
      int size = comparison.sizes().get(i);
      if (size < Long.BYTES || size % Long.BYTES != 0) {
        problems.add(
            Problem.of(
                    "DB-K011",
                    descriptor.place("/compare/size/%d".formatted(i)),
                    "a message of %d bytes".formatted(size))
                .fix("use multiples of 8"));
      }
    }
  }

  private static boolean reaches(KernelDescriptor descriptor, String field) {
    Set<String> given = Set.copyOf(descriptor.parameters());
    return given.contains("job") || given.contains(field);
  }

  private static KernelDescriptor.Slots slots(String word) {
    return switch (word) {
      case "window" -> KernelDescriptor.Slots.WINDOW;
      case "threads" -> KernelDescriptor.Slots.THREADS;
      default -> KernelDescriptor.Slots.BLOCKS;
    };
  }

  private static KernelComparison comparison(JsonNode node, boolean shared) {
    List<KernelComparison.Chance> chance = new ArrayList<>();
    for (JsonNode place : node.path("chance")) {
      chance.add(
          new KernelComparison.Chance(
              place.get("memory").asString(),
              place.path("rank").asInt(KernelComparison.Chance.EACH_RANK),
              place.path("from").asLong(0),
              place.path("bytes").asLong(Long.MAX_VALUE),
              place.get("why").asString().strip()));
    }
    String posts = node.path("posts").asString(shared ? "unordered" : "ordered");
    return new KernelComparison(
        KernelComparison.Posts.valueOf(posts.toUpperCase(Locale.ROOT)),
        numbers(node.path("blocks")),
        numbers(node.path("threads")),
        numbers(node.path("size")),
        numbers(node.path("window")),
        numbers(node.path("iterations")),
        numbers(node.path("queue_pairs")),
        numbers(node.path("ranks")),
        Schema.strings(node.path("scope")),
        Schema.strings(node.path("opcode")),
        chance);
  }

  /** Whole numbers, with suffixes or without; the schema lets nothing else through. */
  private static List<Integer> numbers(JsonNode list) {
    List<Integer> numbers = new ArrayList<>();
    for (JsonNode number : list) {
      numbers.add(Math.toIntExact(Sizes.parse(number.asString()).orElseThrow()));
    }
    return numbers;
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
