package dev.doorbell.experiments.topology;

import dev.doorbell.core.fabric.timed.machine.Topology;
import dev.doorbell.core.problem.Nearest;
import dev.doorbell.core.problem.Problem;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.api.lowlevel.Compose;
import org.snakeyaml.engine.v2.exceptions.Mark;
import org.snakeyaml.engine.v2.exceptions.MarkedYamlEngineException;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;
import org.snakeyaml.engine.v2.nodes.Node;

/** Finds and reads topologies: those that come with the program by name, others by path. */
public final class TopologyFile {
  private static final String PACKAGED = "/dev/doorbell/experiments/topologies/";
  private static final String SUFFIX = ".yaml";

  /** What calibrate writes; YAML, too. */
  private static final String MACHINE = ".json";

  private static final List<String> NAMES =
      List.of(
          "same-switch",
          "cross-rc",
          "cross-socket",
          "no-p2p-reads",
          "vm-redirect",
          "round-pix",
          "round-sys",
          "two-gpus");

  private TopologyFile() {}

  /** The names of the topologies that come with the program. */
  public static List<String> names() {
    return NAMES;
  }

  /**
   * Reads a topology.
   *
   * @param nameOrPath one of {@link #names}, or the path of a file that ends in {@code .yaml} or
   *     {@code .json}
   * @throws TopologyException with everything that is wrong, in the order of the file
   */
  public static Topology load(String nameOrPath) throws TopologyException {
    return parse(nameOrPath, text(nameOrPath));
  }

  /**
   * The same with some constants changed, to ask what they matter.
   *
   * @param instead values by the keys of {@link Topology#constants}; they are not checked against
   *     the limits of a file
   */
  public static Topology load(String nameOrPath, Map<String, Double> instead)
      throws TopologyException {
    return parse(new Ledger(nameOrPath, instead), nameOrPath, text(nameOrPath));
  }

  /**
   * The text of a topology file, to be copied and changed.
   *
   * @throws TopologyException when there is none
   */
  public static String text(String nameOrPath) throws TopologyException {
    try {
      if (!nameOrPath.endsWith(SUFFIX) && !nameOrPath.endsWith(MACHINE)) {
        return packaged(nameOrPath);
      }
      return Files.readString(Path.of(nameOrPath));
    } catch (NoSuchFileException e) {
      throw failure("DB-T001", nameOrPath, "there is no such file");
    } catch (CharacterCodingException e) {
      throw failure("DB-T001", nameOrPath, "not a text in UTF-8");
    } catch (IOException e) {
      throw failure("DB-T001", nameOrPath, "cannot be read: " + e.getMessage());
    }
  }

  private static String packaged(String name) throws IOException, TopologyException {
    try (InputStream in =
        NAMES.contains(name)
            ? TopologyFile.class.getResourceAsStream(PACKAGED + name + SUFFIX)
            : null) {
      if (in == null) {
        throw new TopologyException(
            List.of(
                Problem.of(
                        "DB-T001",
                        null,
                        "unknown topology '%s'%s".formatted(name, Nearest.suggestion(name, NAMES)))
                    .fix(
                        "take one of %s, or the path of a file that ends in .yaml or .json"
                            .formatted(String.join(", ", NAMES)))));
      }
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  /**
   * Reads the text of a topology.
   *
   * @param file what to call it in problems
   */
  static Topology parse(String file, String text) throws TopologyException {
    return parse(new Ledger(file), file, text);
  }

  private static Topology parse(Ledger ledger, String file, String text) throws TopologyException {
    Topology topology = new TopologyReader(ledger, compose(file, text)).read();
    if (topology == null) {
      throw new TopologyException(ledger.problems());
    }
    return topology;
  }

  private static Node compose(String file, String text) throws TopologyException {
    LoadSettings settings = LoadSettings.builder().setLabel(file).build();
    List<Node> documents = new ArrayList<>();
    try {
      new Compose(settings).composeAllFromString(text).forEach(documents::add);
    } catch (MarkedYamlEngineException e) {
      Optional<Mark> mark = e.getProblemMark().or(e::getContextMark);
      throw failure("DB-T002", where(file, mark), "not YAML: " + e.getProblem());
    } catch (YamlEngineException e) {
      throw failure("DB-T002", file, "not YAML: " + firstLine(e.getMessage()));
    }
    if (documents.size() != 1) {
      throw failure(
          "DB-T004",
          file,
          documents.isEmpty()
              ? "the file is empty; a topology is a mapping"
              : "one file holds one topology, and this one holds " + documents.size());
    }
    return documents.getFirst();
  }

  private static String where(String file, Optional<Mark> mark) {
    return mark.map(m -> "%s:%d:%d".formatted(file, m.getLine() + 1, m.getColumn() + 1))
        .orElse(file);
  }

  private static String firstLine(@Nullable String message) {
    return message == null ? "unreadable" : message.lines().findFirst().orElse("unreadable");
  }

  private static TopologyException failure(String code, String where, String what) {
    return new TopologyException(List.of(Problem.of(code, where, what)));
  }
}
