package dev.doorbell.experiments.config.document;

import dev.doorbell.core.problem.Problem;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Positions of a document's keys and values in the text, or on the command line, by JSON pointer.
 */
public final class SourcePositions {
  private final String file;
  private final Map<String, String> values = new HashMap<>();
  private final Map<String, String> keys = new HashMap<>();

  public SourcePositions(String file) {
    this.file = file;
  }

  void value(String pointer, int line, int column) {
    values.put(pointer, "%s:%d:%d".formatted(file, line, column));
  }

  void key(String pointer, int line, int column) {
    keys.put(pointer, "%s:%d:%d".formatted(file, line, column));
  }

  /** From now on the node and all below it come from the command line. */
  public void override(String pointer, String text) {
    forget(pointer);
    values.put(pointer, text);
    keys.put(pointer, text);
  }

  /** The places of what lies below a node, by pointers from there. */
  public SourcePositions below(String pointer) {
    SourcePositions below = new SourcePositions(file);
    copyBelow(values, pointer, below.values);
    copyBelow(keys, pointer, below.keys);
    return below;
  }

  private static void copyBelow(Map<String, String> from, String pointer, Map<String, String> to) {
    from.forEach(
        (at, mark) -> {
          if (isAtOrBelow(at, pointer)) {
            to.put(at.substring(pointer.length()), mark);
          }
        });
  }

  /** The node is gone, or replaced. */
  public void forget(String pointer) {
    values.keySet().removeIf(other -> isAtOrBelow(other, pointer));
    keys.keySet().removeIf(other -> isAtOrBelow(other, pointer));
  }

  /** Returns where a value starts, or where the nearest enclosing node with a place does. */
  public String ofValue(String pointer) {
    return text(values, pointer);
  }

  /** Returns where the key of a value starts. */
  public String ofKey(String pointer) {
    return keys.containsKey(pointer) ? text(keys, pointer) : ofValue(pointer);
  }

  private String text(Map<String, String> positions, String pointer) {
    String mark = positions.get(pointer);
    if (mark != null) {
      return mark;
    }
    int parent = pointer.lastIndexOf('/');
    return parent < 0 ? file : text(values, pointer.substring(0, parent));
  }

  private static boolean isAtOrBelow(String pointer, String ancestor) {
    return pointer.startsWith(ancestor)
        && (pointer.length() == ancestor.length() || pointer.charAt(ancestor.length()) == '/');
  }

  /** The pointer of a member or an element. */
  public static String child(String pointer, String name) {
    return pointer + "/" + name.replace("~", "~0").replace("/", "~1");
  }

  /** Orders problems as a reader meets them: by file, then line, then column. */
  public record ProblemPosition(String file, int line, int column)
      implements Comparable<ProblemPosition> {
    private static final Comparator<ProblemPosition> ORDER =
        Comparator.comparing(ProblemPosition::file)
            .thenComparingInt(ProblemPosition::line)
            .thenComparingInt(ProblemPosition::column);
    private static final Pattern IN_FILE = Pattern.compile("(.*):(\\d+):(\\d+)");

    public static ProblemPosition of(Problem problem) {
      String where = problem.where() == null ? "" : problem.where();
      Matcher matcher = IN_FILE.matcher(where);
      return matcher.matches()
          ? new ProblemPosition(
              matcher.group(1),
              Integer.parseInt(matcher.group(2)),
              Integer.parseInt(matcher.group(3)))
          : new ProblemPosition(where, 0, 0);
    }

    @Override
    public int compareTo(ProblemPosition other) {
      return ORDER.compare(this, other);
    }
  }
}
