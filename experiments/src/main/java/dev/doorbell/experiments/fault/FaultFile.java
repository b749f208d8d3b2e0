package dev.doorbell.experiments.fault;

import dev.doorbell.core.fault.FaultPlan;
import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.core.problem.Problem;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.api.lowlevel.Compose;
import org.snakeyaml.engine.v2.exceptions.Mark;
import org.snakeyaml.engine.v2.exceptions.MarkedYamlEngineException;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;
import org.snakeyaml.engine.v2.nodes.MappingNode;
import org.snakeyaml.engine.v2.nodes.Node;
import org.snakeyaml.engine.v2.nodes.NodeTuple;
import org.snakeyaml.engine.v2.nodes.ScalarNode;

/** Reads fault plans. */
public final class FaultFile {
  private static final long STANDARD_SEED = 1;

  private FaultFile() {}

  /**
   * Reads a fault plan.
   *
   * @throws ConfigException with everything that is wrong, in the order of the file
   */
  public static FaultPlan load(Path file) throws ConfigException {
    try {
      return parse(file.toString(), Files.readString(file, StandardCharsets.UTF_8));
    } catch (NoSuchFileException e) {
      throw failure("DB-F001", file.toString(), "there is no such file");
    } catch (CharacterCodingException e) {
      throw failure("DB-F001", file.toString(), "not a text in UTF-8");
    } catch (IOException e) {
      throw failure("DB-F001", file.toString(), "cannot be read: " + e.getMessage());
    }
  }

  /**
   * Reads the text of a fault plan.
   *
   * @param file what to call it in problems
   * @throws ConfigException with everything that is wrong, in the order of the text
   */
  public static FaultPlan parse(String file, String text) throws ConfigException {
    return parse(file, text, STANDARD_SEED);
  }

  /** The same, with the seed of a plan that names none. */
  static FaultPlan parse(String file, String text, long seed) throws ConfigException {
    return new FaultReader(file, seed).plan(compose(file, text));
  }

  /** Reads what stands under {@code faults} in a file of another kind. */
  static FaultPlan parseInline(String file, String text, long seed) throws ConfigException {
    if (compose(file, text) instanceof MappingNode mapping) {
      for (NodeTuple tuple : mapping.getValue()) {
        if (tuple.getKeyNode() instanceof ScalarNode key && key.getValue().equals("faults")) {
          return new FaultReader(file, seed).inline(tuple.getValueNode());
        }
      }
    }
    return new FaultPlan(seed, List.of());
  }

  private static Node compose(String file, String text) throws ConfigException {
    LoadSettings settings = LoadSettings.builder().setLabel(file).build();
    List<Node> documents = new ArrayList<>();
    try {
      new Compose(settings).composeAllFromString(text).forEach(documents::add);
    } catch (MarkedYamlEngineException e) {
      Optional<Mark> mark = e.getProblemMark().or(e::getContextMark);
      String where =
          mark.map(m -> "%s:%d:%d".formatted(file, m.getLine() + 1, m.getColumn() + 1))
              .orElse(file);
      throw failure("DB-F002", where, "not YAML: " + e.getProblem());
    } catch (YamlEngineException e) {
      throw failure("DB-F002", file, "not YAML");
    }
    if (documents.size() != 1) {
      throw failure(
          "DB-F004",
          file,
          documents.isEmpty()
              ? "the file is empty; a fault plan is a mapping with a list 'faults'"
              : "one file holds one fault plan, and this one holds " + documents.size());
    }
    return documents.getFirst();
  }

  private static ConfigException failure(String code, String where, String what) {
    return new ConfigException(List.of(Problem.of(code, where, what)));
  }
}
