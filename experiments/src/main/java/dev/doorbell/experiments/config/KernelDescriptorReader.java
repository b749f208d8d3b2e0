package dev.doorbell.experiments.config;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Turns the text of a kernel's descriptor into a {@link KernelDescriptor}. */
public final class KernelDescriptorReader {
  private static final String LAUNCH = "/launch";

  private static final JsonNode SCHEMA = Schema.load("kernel");
  private static final SchemaChecker CHECKER = new SchemaChecker(SCHEMA);

  /**
   * Reads a descriptor.
   *
   * @param file name to be shown in problems
   * @throws ConfigException with every problem at once
   */
  public KernelDescriptor read(String file, String text) throws ConfigException {
    YamlDocument.Parsed document = YamlDocument.parse(file, text, "kernel descriptor");
    Marks marks = document.marks();
    ObjectNode root = document.root();
    List<Problem> problems = CHECKER.check(root, marks);
    if (!problems.isEmpty()) {
      throw new ConfigException(problems);
    }
    String name = root.get("kernel").asString();
    JsonNode launch = root.path("launch");
    KernelDescriptor descriptor =
        new KernelDescriptor(
            name,
            root.get("description").asString().strip(),
            root.path("ptx").asString(name + ".ptx"),
            root.path("source").asString(""),
            root.path("entry").asString(name),
            Optional.ofNullable(root.get("isa")).map(JsonNode::asString),
            Schema.strings(value(root, "", "parameters")),
            new KernelDescriptor.Launch(
                value(launch, LAUNCH, "ranks").asString().equals("both"),
                value(launch, LAUNCH, "blocks").asInt(),
                value(launch, LAUNCH, "threads").asInt(0),
                value(launch, LAUNCH, "shared").asInt(),
                value(launch, LAUNCH, "cooperative").asBoolean(),
                value(launch, LAUNCH, "slots").isString()),
            new LinkedHashSet<>(Schema.strings(root.path("paths"))),
            KernelDescriptor.Measures.valueOf(
                root.get("measures").asString().toUpperCase(Locale.ROOT)),
            KernelDescriptor.Verify.valueOf(
                value(root, "", "verify").asString().toUpperCase(Locale.ROOT)),
            text,
            marks::ofValue);
    checkTogether(descriptor);
    return descriptor;
  }

  /** What each key alone is allowed and together makes no sense. */
  private static void checkTogether(KernelDescriptor descriptor) throws ConfigException {
    List<Problem> problems = new ArrayList<>();
    if (descriptor.verify() == KernelDescriptor.Verify.BOTH && !descriptor.launch().bothRanks()) {
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

  private static boolean reaches(KernelDescriptor descriptor, String field) {
    Set<String> given = Set.copyOf(descriptor.parameters());
    return given.contains("job") || given.contains(field);
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
