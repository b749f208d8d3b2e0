package dev.doorbell.experiments.config.document;

import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.core.problem.Problem;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.nodes.CollectionNode;
import org.snakeyaml.engine.v2.nodes.MappingNode;
import org.snakeyaml.engine.v2.nodes.Node;
import org.snakeyaml.engine.v2.nodes.NodeTuple;
import org.snakeyaml.engine.v2.nodes.ScalarNode;
import org.snakeyaml.engine.v2.nodes.SequenceNode;
import org.snakeyaml.engine.v2.nodes.Tag;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * A YAML file as a JSON tree that remembers where each key and value was written.
 *
 * <p>Scalars are resolved by YAML 1.2's core schema: {@code no} and {@code 012} are not surprises.
 */
public final class YamlDocument {
  private static final String NO_MEANING = "the tag %s has no meaning here";
  private static final Set<Tag> PLAIN = Set.of(Tag.MAP, Tag.SEQ);
  private static final JsonNodeFactory JSON = JsonNodeFactory.instance;

  private final String file;
  private final String kind;
  private final SourcePositions positions;
  private final List<Problem> problems = new ArrayList<>();

  private YamlDocument(String file, String kind) {
    this.file = file;
    this.kind = kind;
    this.positions = new SourcePositions(file);
  }

  /** A tree with the positions of its nodes. */
  public record Parsed(ObjectNode root, SourcePositions positions) {}

  /**
   * Reads a document.
   *
   * @param file name to be shown in problems
   * @throws ConfigException when the text is not YAML, not a mapping, or gives a key twice
   */
  public static Parsed parse(String file, String text) throws ConfigException {
    return parse(file, text, "experiment");
  }

  /** Reads a document of another kind. */
  public static Parsed parse(String file, String text, String kind) throws ConfigException {
    return new YamlDocument(file, kind).read(text);
  }

  /** A single scalar or flow sequence from the command line. */
  public static JsonNode parseFragment(String where, String text) throws ConfigException {
    YamlDocument document = new YamlDocument(where, "value");
    Node node = document.compose(text);
    JsonNode value = node == null ? JSON.nullNode() : document.convert(node, "");
    document.stopOnProblems();
    return value;
  }

  private Parsed read(String text) throws ConfigException {
    Node node = compose(text);
    if (node == null) {
      throw new ConfigException(
          Problem.of("DB-C004", file, "the file is empty; " + article() + " is a mapping"));
    }
    JsonNode root = convert(node, "");
    stopOnProblems();
    if (root instanceof ObjectNode object) {
      return new Parsed(object, positions);
    }
    throw new ConfigException(
        Problem.of(
            "DB-C004",
            positions.ofValue(""),
            article() + " is a mapping of keys to values, and this is not one"));
  }

  private String article() {
    return ("aeiou".indexOf(kind.charAt(0)) >= 0 ? "an " : "a ") + kind;
  }

  private void stopOnProblems() throws ConfigException {
    ConfigException.throwIfAny(problems);
  }

  private @Nullable Node compose(String text) throws ConfigException {
    List<Node> documents =
        new DocumentKind(kind, "a mapping of keys to values", 'C').documents(file, text);
    if (documents.size() > 1) {
      throw new ConfigException(
          Problem.of(
              "DB-C002",
              where(documents.get(1)),
              "a second document starts here; one file holds one " + kind));
    }
    return documents.isEmpty() ? null : documents.getFirst();
  }

  private String where(Node node) {
    return DocumentKind.where(file, node.getStartMark());
  }

  private JsonNode convert(Node node, String pointer) {
    node.getStartMark()
        .ifPresent(mark -> positions.value(pointer, mark.getLine() + 1, mark.getColumn() + 1));
    if (node instanceof CollectionNode && !PLAIN.contains(node.getTag())) {
      problem(node, "DB-C004", NO_MEANING.formatted(node.getTag()));
    }
    return switch (node) {
      case MappingNode mapping -> object(mapping, pointer);
      case SequenceNode sequence -> array(sequence, pointer);
      case ScalarNode scalar -> scalar(scalar);
      default -> throw new IllegalStateException("unexpected YAML node " + node.getNodeType());
    };
  }

  private ObjectNode object(MappingNode mapping, String pointer) {
    ObjectNode object = JSON.objectNode();
    for (NodeTuple tuple : mapping.getValue()) {
      if (!(tuple.getKeyNode() instanceof ScalarNode key)) {
        problem(tuple.getKeyNode(), "DB-C004", "a key must be a word");
        continue;
      }
      String name = key.getValue();
      String child = SourcePositions.child(pointer, name);
      if (object.has(name)) {
        problem(
            key,
            "DB-C003",
            "key '%s' is given twice; the first is at %s".formatted(name, positions.ofKey(child)));
        continue;
      }
      key.getStartMark()
          .ifPresent(mark -> positions.key(child, mark.getLine() + 1, mark.getColumn() + 1));
      object.set(name, convert(tuple.getValueNode(), child));
    }
    return object;
  }

  private ArrayNode array(SequenceNode sequence, String pointer) {
    ArrayNode array = JSON.arrayNode();
    int index = 0;
    for (Node element : sequence.getValue()) {
      array.add(convert(element, pointer + "/" + index++));
    }
    return array;
  }

  private JsonNode scalar(ScalarNode scalar) {
    Tag tag = scalar.getTag();
    String text = scalar.getValue();
    if (tag.equals(Tag.STR)) {
      return JSON.stringNode(text);
    }
    if (tag.equals(Tag.INT)) {
      return integer(scalar, text);
    }
    if (tag.equals(Tag.FLOAT)) {
      return decimal(text);
    }
    if (tag.equals(Tag.BOOL)) {
      return JSON.booleanNode(Boolean.parseBoolean(text));
    }
    if (tag.equals(Tag.NULL)) {
      return JSON.nullNode();
    }
    problem(scalar, "DB-C004", NO_MEANING.formatted(tag));
    return JSON.stringNode(text);
  }

  /** Infinity and NaN stay text: no setting takes them, and the schema says so. */
  private static JsonNode decimal(String text) {
    try {
      double value = Double.parseDouble(text);
      return Double.isFinite(value) ? JSON.numberNode(value) : JSON.stringNode(text);
    } catch (NumberFormatException e) {
      return JSON.stringNode(text);
    }
  }

  private JsonNode integer(ScalarNode scalar, String text) {
    try {
      BigInteger value =
          text.startsWith("0x")
              ? new BigInteger(text.substring(2), 16)
              : text.startsWith("0o")
                  ? new BigInteger(text.substring(2), 8)
                  : new BigInteger(text.startsWith("+") ? text.substring(1) : text);
      if (value.bitLength() < Long.SIZE) {
        return JSON.numberNode(value.longValueExact());
      }
      problem(scalar, "DB-C014", "%s is more than 64 bits hold".formatted(text));
    } catch (NumberFormatException e) {
      problem(scalar, "DB-C013", "%s is not a number".formatted(text));
    }
    return JSON.numberNode(0);
  }

  private void problem(Node node, String code, String what) {
    problems.add(Problem.of(code, where(node), what));
  }
}
