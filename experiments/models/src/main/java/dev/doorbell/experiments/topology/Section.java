package dev.doorbell.experiments.topology;

import dev.doorbell.core.fabric.timed.machine.Topology.Constant;
import dev.doorbell.core.fabric.timed.machine.Topology.Constant.Origin;
import dev.doorbell.core.problem.Nearest;
import dev.doorbell.experiments.config.document.DocumentKind.NodeProblems;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.common.FlowStyle;
import org.snakeyaml.engine.v2.nodes.MappingNode;
import org.snakeyaml.engine.v2.nodes.Node;
import org.snakeyaml.engine.v2.nodes.NodeTuple;
import org.snakeyaml.engine.v2.nodes.ScalarNode;
import org.snakeyaml.engine.v2.nodes.SequenceNode;
import org.snakeyaml.engine.v2.nodes.Tag;

/**
 * A mapping of a topology file, read key by key. Every number is a constant with a source: its own,
 * written {@code {value: 300, source: "cited: ..."}}, or that of the nearest mapping around it that
 * has a {@code source}.
 */
final class Section {
  /** A word and a colon; rows that a constant is fitted to may follow without one. */
  private static final Map<Origin, Pattern> BEGINNINGS =
      Arrays.stream(Origin.values())
          .collect(
              Collectors.toMap(
                  origin -> origin,
                  origin ->
                      Pattern.compile(
                          origin.word() + (origin == Origin.FITTED ? "(:|\\b)" : "(:|$)"))));

  private static final List<String> UNITS = List.of("gb_s", "bytes", "ns", "ghz", "cycles");

  private final ConstantRecorder recorder;
  private final String name;
  private final Node node;
  private final Map<String, NodeTuple> entries;
  private final Set<String> known = new LinkedHashSet<>();
  private final @Nullable String source;

  Section(ConstantRecorder recorder, String name, Node node, @Nullable String inheritedSource) {
    this.recorder = recorder;
    this.name = name;
    this.node = node;
    this.entries = recorder.entries(node, title());
    this.source = has("source") ? text("source") : inheritedSource;
    known.add("source");
  }

  private String title() {
    return name.isEmpty() ? "a topology" : name;
  }

  String name() {
    return name;
  }

  Node node() {
    return node;
  }

  boolean has(String key) {
    known.add(key);
    return entries.containsKey(key);
  }

  /** The node of a key, for problems; the section's when the key is missing. */
  Node at(String key) {
    NodeTuple tuple = entries.get(key);
    return tuple == null ? node : tuple.getValueNode();
  }

  private @Nullable Node value(String key) {
    known.add(key);
    NodeTuple tuple = entries.get(key);
    if (tuple == null && node instanceof MappingNode) {
      recorder.problem(node, "DB-T005", "%s lacks '%s'".formatted(title(), key));
    }
    return tuple == null ? null : tuple.getValueNode();
  }

  String text(String key) {
    Node value = value(key);
    if (value instanceof ScalarNode scalar) {
      return scalar.getValue();
    }
    if (value != null) {
      recorder.problem(value, "DB-T004", "'%s' must be a text".formatted(key));
    }
    return "";
  }

  /** A number between two bounds, or {@code absent} where the key may be missing and is. */
  double number(String key, double least, double most, double absent) {
    return has(key) ? number(key, least, most) : absent;
  }

  double number(String key, double least, double most) {
    Node value = value(key);
    if (value == null) {
      return least;
    }
    String own = source;
    Node scalar = value;
    if (value instanceof MappingNode) {
      Section parts = new Section(recorder, path(key), value, source);
      scalar = parts.has("value") ? parts.at("value") : value;
      own = parts.source;
      parts.value("value");
      parts.end();
    }
    double number = recorder.value(path(key), parse(key, scalar, least, most));
    keep(key, number, own, value);
    return number;
  }

  private double parse(String key, Node scalar, double least, double most) {
    try {
      double number =
          scalar instanceof ScalarNode text ? Double.parseDouble(text.getValue()) : Double.NaN;
      if (number >= least && number <= most) {
        return number;
      }
      String range =
          most == Double.MAX_VALUE
              ? "at least %s".formatted(plain(least))
              : "between %s and %s".formatted(plain(least), plain(most));
      recorder.problem(
          scalar,
          "DB-T006",
          Double.isNaN(number)
              ? "'%s' must be a number".formatted(key)
              : "'%s' is %s; it must be %s".formatted(key, plain(number), range));
    } catch (NumberFormatException e) {
      recorder.problem(
          scalar,
          "DB-T006",
          "'%s' must be a number, not '%s'".formatted(key, ((ScalarNode) scalar).getValue()));
    }
    return least;
  }

  private static String plain(double number) {
    return number == Math.rint(number) && Math.abs(number) < 1e15
        ? Long.toString((long) number)
        : Double.toString(number);
  }

  private void keep(String key, double number, @Nullable String text, Node at) {
    if (text == null) {
      recorder.problem(
          at,
          "DB-T007",
          ("'%s' has no source; write {value: ..., source: \"assumed: ...\"} or give its section a"
                  + " source")
              .formatted(key));
      return;
    }
    for (Origin origin : Origin.values()) {
      Matcher matcher = Objects.requireNonNull(BEGINNINGS.get(origin)).matcher(text);
      if (matcher.lookingAt()) {
        String rest = text.substring(matcher.end());
        if (origin != Origin.ASSUMED && rest.isBlank()) {
          recorder.problem(
              at,
              "DB-T007",
              "the source of '%s' says '%s' and not what".formatted(key, origin.word()));
        }
        recorder.constant(new Constant(path(key), number, unit(key), origin, rest.strip()));
        return;
      }
    }
    recorder.problem(
        at,
        "DB-T007",
        ("the source of '%s' must begin with 'measured here:', 'fitted to', 'cited:' or 'assumed:',"
                + " not '%s'%s")
            .formatted(
                key,
                text,
                Nearest.suggestion(
                    text.split(":", 2)[0],
                    Arrays.stream(Origin.values()).map(Origin::word).toList())));
  }

  private static String unit(String key) {
    for (String unit : UNITS) {
      if (key.equals(unit) || key.endsWith("_" + unit)) {
        return unit;
      }
    }
    return "";
  }

  private String path(String key) {
    return name.isEmpty() ? key : name + "." + key;
  }

  int integer(String key, int least, int most) {
    double number = number(key, least, most);
    if (number != Math.rint(number)) {
      recorder.problem(at(key), "DB-T006", "'%s' must be a whole number".formatted(key));
    }
    return (int) number;
  }

  /** A power of two between two bounds; {@code 0} too where {@code orNone}. */
  int powerOfTwo(String key, int least, int most, boolean orNone) {
    int number = integer(key, orNone ? 0 : least, most);
    boolean none = orNone && number == 0;
    if (!none && (number < least || Integer.bitCount(number) != 1)) {
      recorder.problem(
          at(key),
          "DB-T006",
          "'%s' is %d; it must be a power of two from %d to %d%s"
              .formatted(key, number, least, most, orNone ? ", or 0" : ""));
      return least;
    }
    return number;
  }

  /** One of a few numbers. */
  int oneOf(String key, List<Integer> allowed, int absent) {
    if (!has(key)) {
      return absent;
    }
    int number = integer(key, 0, Integer.MAX_VALUE);
    if (!allowed.contains(number)) {
      recorder.problem(
          at(key), "DB-T006", "'%s' is %d; it must be one of %s".formatted(key, number, allowed));
      return allowed.getFirst();
    }
    return number;
  }

  boolean flag(String key, boolean absent) {
    if (!has(key)) {
      return absent;
    }
    Node value = value(key);
    Node scalar = value;
    String own = source;
    if (value instanceof MappingNode) {
      Section parts = new Section(recorder, path(key), value, source);
      scalar = parts.value("value");
      own = parts.source;
      parts.end();
    }
    String text = scalar instanceof ScalarNode word ? word.getValue() : "";
    boolean yes = text.equals("true");
    if (value == null || !(yes || text.equals("false"))) {
      recorder.problem(at(key), "DB-T006", "'%s' must be true or false".formatted(key));
      return absent;
    }
    keep(key, yes ? 1 : 0, own, value);
    return yes;
  }

  /** The elements of a list that must not be empty. */
  List<Node> list(String key) {
    Node value = value(key);
    if (value instanceof SequenceNode sequence && !sequence.getValue().isEmpty()) {
      return sequence.getValue();
    }
    if (value != null) {
      recorder.problem(value, "DB-T004", "'%s' must be a list with something in it".formatted(key));
    }
    return List.of();
  }

  List<String> words(String key) {
    List<String> words = new ArrayList<>();
    for (Node element : list(key)) {
      if (element instanceof ScalarNode scalar) {
        words.add(scalar.getValue());
      } else {
        recorder.problem(element, "DB-T004", "'%s' is a list of names".formatted(key));
      }
    }
    return words;
  }

  Section section(String key) {
    Node value = value(key);
    return new Section(recorder, path(key), value == null ? EMPTY : value, source);
  }

  /** An element of a list, under the name that its constants get. */
  Section element(Node element, String elementName) {
    return new Section(recorder, elementName, element, source);
  }

  /** Ends the section, and returns what was read from it. */
  <T> T end(T read) {
    end();
    return read;
  }

  /** Adds a problem for each key that has not been read. */
  void end() {
    Set<String> unknown = new HashSet<>(entries.keySet());
    unknown.removeAll(known);
    for (String key : unknown) {
      NodeTuple tuple = entries.get(key);
      if (tuple != null) {
        recorder.problem(
            tuple.getKeyNode(),
            "DB-T002",
            "unknown key '%s' in %s%s".formatted(key, title(), Nearest.suggestion(key, known)));
      }
    }
  }

  private static final Node EMPTY = new MappingNode(Tag.MAP, List.of(), FlowStyle.BLOCK);

  /** Records the constants of a topology file while it is read, and its problems. */
  static final class ConstantRecorder extends NodeProblems {
    private final Map<String, Double> substitutes;
    private final List<Constant> constants = new ArrayList<>();

    ConstantRecorder(String file) {
      this(file, Map.of());
    }

    /**
     * @param substitutes values that replace those in the file, by key of the constant
     */
    ConstantRecorder(String file, Map<String, Double> substitutes) {
      super(file, TopologyFile.KIND);
      this.substitutes = Map.copyOf(substitutes);
    }

    /** Returns the value of a constant: its substitute, or that in the file. */
    double value(String key, double inFile) {
      return substitutes.getOrDefault(key, inFile);
    }

    void constant(Constant constant) {
      constants.add(constant);
    }

    List<Constant> constants() {
      return constants;
    }
  }
}
