package dev.doorbell.experiments.fault;

import dev.doorbell.core.fault.FaultPlan;
import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.experiments.config.document.DocumentKind;
import java.nio.file.Path;
import java.util.List;
import org.snakeyaml.engine.v2.nodes.MappingNode;
import org.snakeyaml.engine.v2.nodes.NodeTuple;
import org.snakeyaml.engine.v2.nodes.ScalarNode;

/** Reads fault plans. */
public final class FaultFile {
  /** Files that hold a fault plan. */
  static final DocumentKind KIND =
      new DocumentKind("fault plan", "a mapping with a list 'faults'", 'F');

  private static final long STANDARD_SEED = 1;

  private FaultFile() {}

  /**
   * Reads a fault plan.
   *
   * @throws ConfigException with everything that is wrong, in the order of the file
   */
  public static FaultPlan load(Path file) throws ConfigException {
    return parse(file.toString(), KIND.text(file));
  }

  /**
   * Reads the text of a fault plan.
   *
   * @param file name for problems
   * @throws ConfigException with everything that is wrong, in the order of the text
   */
  public static FaultPlan parse(String file, String text) throws ConfigException {
    return parse(file, text, STANDARD_SEED);
  }

  /** Reads a plan; {@code seed} is that of a plan without one. */
  static FaultPlan parse(String file, String text, long seed) throws ConfigException {
    return new FaultReader(file, seed).plan(KIND.node(file, text));
  }

  /** Reads the value of the key {@code faults} in a file of another kind. */
  static FaultPlan parseInline(String file, String text, long seed) throws ConfigException {
    if (KIND.node(file, text) instanceof MappingNode mapping) {
      for (NodeTuple tuple : mapping.getValue()) {
        if (tuple.getKeyNode() instanceof ScalarNode key && key.getValue().equals("faults")) {
          return new FaultReader(file, seed).inline(tuple.getValueNode());
        }
      }
    }
    return new FaultPlan(seed, List.of());
  }
}
