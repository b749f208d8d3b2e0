package dev.doorbell.experiments.pasted;

import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Pattern;

/**
 * Pasted text, divided into what lies in it: dumps, descriptions of machines, tables of benchmarks,
 * and lines of logs.
 *
 * @param parts in the order of the text
 * @param log every line that belongs to none of them, by number
 */
public record PastedText(List<Part> parts, SortedMap<Integer, String> log) {
  /** Colours, also those that lost their escape character on the way. */
  private static final Pattern COLOUR =
      Pattern.compile("\u001b\\[[0-9;]*m|\\[(?:0|1|4|3[0-9]|9[0-7])m");

  /** Quotes of mails, and the ranks that mpirun puts before each line. */
  private static final Pattern QUOTE =
      Pattern.compile("^(?:(?:> ?)+|.{0,40}?\\[\\d+,\\d+\\]<std(?:out|err)>:)");

  private static final Pattern XML = Pattern.compile("<(system|topology)[ >]");
  private static final Pattern XML_END = Pattern.compile("</(system|topology)>");
  private static final Pattern MATRIX = Pattern.compile("\\s*GPU0\\s+\\S+.*");
  private static final Pattern MATRIX_ROW =
      Pattern.compile(
          "\\s*((GPU|NIC|mlx|rocep|ib|bnxt|rdmap|hns)\\w*\\s+\\S+.*|(NIC )?Legend:|NIC\\d+: \\S+|.*"
              + " = .*)");

  /** A row of {@code nvidia-smi topo -p2p}, which has no distances. */
  private static final Pattern ACCESS =
      Pattern.compile("\\s*GPU\\d+(\\s+(X|OK|[CGT]?NS|DR|U))+\\s*");

  private static final Pattern ROCM =
      Pattern.compile(".*(between two GPUs|ROCm System Management).*");
  private static final Pattern TREE =
      Pattern.compile("\\s*-?[+\\\\]?-\\[[0-9a-f]{4,}:[0-9a-f]{2}\\].*");
  private static final Pattern TREE_ROW = Pattern.compile("\\s*[-+\\\\| ]+.*");
  private static final Pattern GRAPH = Pattern.compile(".*=== System : max.*");
  private static final Pattern GRAPH_END = Pattern.compile(".*={20,}\\s*");

  public enum Kind {
    DUMP,
    MACHINE,
    TABLE
  }

  /** Lines of one kind: the number of the first, from 1, and their text. */
  public record Part(Kind kind, int first, List<String> lines) {
    public String text() {
      return String.join("\n", lines) + "\n";
    }

    public int last() {
      return first + lines.size() - 1;
    }
  }

  public static PastedText of(String text) {
    List<String> lines =
        COLOUR
            .matcher(text)
            .replaceAll("")
            .lines()
            .map(line -> QUOTE.matcher(line).replaceFirst(""))
            .toList();
    return new Divider(lines).divide();
  }

  /** Goes through the lines once. */
  private static final class Divider {
    private final List<String> lines;
    private final List<Part> parts = new ArrayList<>();
    private final SortedMap<Integer, String> log = new TreeMap<>();
    private int at;

    Divider(List<String> lines) {
      this.lines = lines;
    }

    PastedText divide() {
      while (at < lines.size()) {
        String line = lines.get(at);
        if (XML.matcher(line).find()) {
          until(Kind.MACHINE, XML_END, 0);
        } else if (ROCM.matcher(line).matches()) {
          until(Kind.MACHINE, Pattern.compile(".*End of ROCm.*"), 1);
        } else if (GRAPH.matcher(line).matches()) {
          until(Kind.MACHINE, GRAPH_END, 1);
        } else if (TREE.matcher(line).matches()) {
          during(Kind.MACHINE, TREE_ROW);
        } else if (MATRIX.matcher(line).matches() && isMatrix()) {
          during(Kind.MACHINE, MATRIX_ROW);
        } else if (PastedTable.isRow(line)) {
          table();
        } else if (HexDump.sure(line).isPresent()) {
          dump();
        } else {
          if (!line.isBlank()) {
            log.put(at + 1, line);
          }
          at++;
        }
      }
      return new PastedText(parts, log);
    }

    private boolean isMatrix() {
      int next = at + 1;
      return next < lines.size()
          && MATRIX.matcher(lines.get(next)).matches()
          && !ACCESS.matcher(lines.get(next)).matches();
    }

    private void add(Kind kind, int end) {
      parts.add(new Part(kind, at + 1, List.copyOf(lines.subList(at, end))));
      at = end;
    }

    /** Takes lines up to one that has {@code end}, sought after the first {@code skipped}. */
    private void until(Kind kind, Pattern end, int skipped) {
      int last = at + skipped;
      while (last < lines.size() && !end.matcher(lines.get(last)).find()) {
        last++;
      }
      add(kind, Math.min(lines.size(), last + 1));
    }

    private void during(Kind kind, Pattern row) {
      int end = at + 1;
      while (end < lines.size()
          && (lines.get(end).isBlank() || row.matcher(lines.get(end)).matches())) {
        end++;
      }
      add(kind, end);
    }

    /** A table begins with the comments above its first row, which say what was run. */
    private void table() {
      int end = at;
      while (end < lines.size()
          && (PastedTable.isRow(lines.get(end)) || PastedTable.isHead(lines.get(end)))) {
        end++;
      }
      int from = at;
      while (from > 0
          && (log.containsKey(from) || lines.get(from - 1).isBlank())
          && PastedTable.isHead(lines.get(from - 1))) {
        log.remove(from);
        from--;
      }
      int stop = end;
      at = from;
      add(Kind.TABLE, stop);
    }

    private void dump() {
      int end = at;
      while (end < lines.size() && HexDump.sure(lines.get(end)).isPresent()) {
        end++;
      }
      add(Kind.DUMP, end);
    }
  }
}
