package dev.doorbell.experiments.config;

import dev.doorbell.core.fault.FaultPlan;
import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.config.document.DocumentKind;
import dev.doorbell.experiments.config.document.YamlDocument;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.List;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * The faults of an experiment: a list of them, a plan with its seed, or the name of a file that
 * holds a plan, as seen from the folder of the experiment.
 */
final class FaultSection {
  private static final DocumentKind PLAN = new DocumentKind("fault plan", "a mapping", 'F');
  private static final String KEY = "faults";
  private static final String SEED = "seed";

  private final String file;
  private final String text;
  private final boolean overridden;

  /**
   * @param file name of the experiment in problems, and where it lies
   * @param text of the experiment
   * @param overrides of the command line
   */
  FaultSection(String file, String text, List<String> overrides) {
    this.file = file;
    this.text = text;
    this.overridden = overrides.stream().anyMatch(o -> o.strip().startsWith(KEY + "="));
  }

  /**
   * Reads the plan, and puts it in full where the experiment says less.
   *
   * @param root of the experiment, valid against the schema
   * @param seed of the experiment
   */
  FaultPlan read(ObjectNode root, long seed) throws ConfigException {
    JsonNode node = root.get(KEY);
    if (node == null) {
      return FaultPlan.NONE;
    }
    FaultGrammar grammar = FaultGrammar.find();
    if (node.isString()) {
      Path named = path(node.stringValue());
      String plan = PLAN.text(named);
      FaultPlan read = grammar.read(named.toString(), plan, seed);
      ObjectNode document = YamlDocument.parse(named.toString(), plan, "fault plan").root();
      put(root, document.get(KEY), read);
      return read;
    }
    FaultPlan read =
        overridden
            ? grammar.inline("-s faults", Resolver.yaml(only(node)), seed)
            : grammar.inline(file, text, seed);
    put(root, node.isArray() ? node : node.get(KEY), read);
    return read;
  }

  private static ObjectNode only(JsonNode node) {
    ObjectNode alone = JsonNodeFactory.instance.objectNode();
    alone.set(KEY, node);
    return alone;
  }

  private static void put(ObjectNode root, JsonNode list, FaultPlan plan) {
    ObjectNode full = root.putObject(KEY);
    full.put(SEED, plan.seed());
    full.set(KEY, list);
  }

  private Path path(String name) throws ConfigException {
    try {
      return Path.of(file).resolveSibling(name);
    } catch (InvalidPathException _) {
      throw new ConfigException(
          Problem.of(PLAN.unreadable(), name, "this cannot be the name of a file"));
    }
  }
}
