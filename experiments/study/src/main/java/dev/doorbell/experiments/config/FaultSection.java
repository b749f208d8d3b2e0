package dev.doorbell.experiments.config;

import dev.doorbell.core.fault.FaultPlan;
import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.config.document.DocumentKind;
import dev.doorbell.experiments.config.document.SourcePositions;
import dev.doorbell.experiments.config.document.YamlDocument;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * The faults of an experiment: a list of them, a plan with its seed, or the name of a file that
 * holds a plan, as seen from the folder of the experiment.
 */
final class FaultSection {
  private static final DocumentKind PLAN = new DocumentKind("fault plan", "a mapping", 'F');
  private static final String KEY = "faults";

  private FaultSection() {}

  /**
   * Reads the plan, and puts it in full where the experiment says less.
   *
   * @param file name of the experiment
   * @param root of the experiment, valid against the schema
   * @param seed of the experiment
   */
  static FaultPlan read(String file, ObjectNode root, SourcePositions positions, long seed)
      throws ConfigException {
    JsonNode node = root.get(KEY);
    if (node == null) {
      return FaultPlan.NONE;
    }
    FaultGrammar grammar = FaultGrammar.find();
    JsonNode list = node.isArray() ? node : node.path(KEY);
    FaultPlan plan;
    if (node.isString()) {
      Path named = path(file, node.stringValue());
      String text = PLAN.text(named);
      plan = grammar.read(named.toString(), text, seed);
      list = YamlDocument.parse(named.toString(), text, PLAN.name()).root().path(KEY);
    } else if (node.isArray()) {
      plan = grammar.plan(root, positions, seed);
    } else {
      plan = grammar.plan(node, positions.below("/" + KEY), seed);
    }
    ObjectNode full = root.putObject(KEY);
    full.put("seed", plan.seed());
    full.set(KEY, list);
    return plan;
  }

  private static Path path(String file, String name) throws ConfigException {
    try {
      return Path.of(file).resolveSibling(name);
    } catch (InvalidPathException _) {
      throw new ConfigException(
          Problem.of(PLAN.unreadable(), name, "this cannot be the name of a file"));
    }
  }
}
