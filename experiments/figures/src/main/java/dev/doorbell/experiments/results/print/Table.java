package dev.doorbell.experiments.results.print;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.stream.IntStream;

/**
 * A table ready to be shown: headings, cells and the notes that belong under it, the basis of its
 * numbers among them.
 *
 * @param columns left to right
 * @param rows cells as printed, one a column in each
 * @param notes below the table, in order
 */
public record Table(List<Column> columns, List<List<String>> rows, List<String> notes) {

  /** Cells of more characters than this are broken into lines where LaTeX sets them. */
  private static final int SENTENCE = 60;

  /** About as many characters fill the width of a page in the small print of tables. */
  private static final double LINE = 120;

  /**
   * A column.
   *
   * @param heading with the unit, such as {@code latency µs}
   * @param numeric set flush right
   * @param group what the column is about; columns of one group stay together where a terminal is
   *     too narrow for all. Empty for a column that says which row it is
   */
  public record Column(String heading, boolean numeric, String group) {
    /** A column that is repeated in each block of a narrow terminal. */
    public Column(String heading, boolean numeric) {
      this(heading, numeric, "");
    }
  }

  public Table {
    columns = List.copyOf(columns);
    rows = rows.stream().map(List::copyOf).toList();
    notes = List.copyOf(notes);
    for (List<String> row : rows) {
      if (row.size() != columns.size()) {
        throw new IllegalArgumentException("cells=" + row.size() + " columns=" + columns.size());
      }
    }
  }

  /** For a terminal: columns lined up by spaces, two between them; no line ends in a space. */
  public String text() {
    return text(Integer.MAX_VALUE);
  }

  /**
   * The text in blocks below each other where a line would be longer than a terminal is wide: each
   * has the columns that say which row it is, and as many groups of others as fit. A group that is
   * too wide alone is broken between its columns.
   *
   * @param width columns of the terminal
   */
  public String text(int width) {
    int[] widths = widthsInCells();
    StringBuilder out = new StringBuilder();
    for (List<Integer> block : blocks(widths, width)) {
      out.append(out.isEmpty() ? "" : "\n");
      line(out, columns.stream().map(Column::heading).toList(), widths, block);
      rows.forEach(row -> line(out, row, widths, block));
    }
    notes.forEach(note -> out.append(Screen.folded(breakable(note), width)).append('\n'));
    return breakable(out);
  }

  private int[] widthsInCells() {
    int[] widths = new int[columns.size()];
    for (int i = 0; i < widths.length; i++) {
      int column = i;
      widths[i] =
          Math.max(
              length(columns.get(i).heading()),
              rows.stream().mapToInt(row -> length(row.get(column))).max().orElse(0));
    }
    return widths;
  }

  private List<List<Integer>> blocks(int[] widths, int width) {
    List<Integer> all = IntStream.range(0, columns.size()).boxed().toList();
    if (lineWidth(all, widths) <= width) {
      return List.of(all);
    }
    List<Integer> keys = all.stream().filter(i -> columns.get(i).group().isEmpty()).toList();
    SequencedMap<String, List<Integer>> groups = new LinkedHashMap<>();
    all.stream()
        .filter(i -> !keys.contains(i))
        .forEach(
            i -> groups.computeIfAbsent(columns.get(i).group(), _ -> new ArrayList<>()).add(i));
    List<List<Integer>> blocks = new ArrayList<>();
    List<Integer> block = new ArrayList<>(keys);
    for (List<Integer> group : groups.values()) {
      List<Integer> together = new ArrayList<>(block);
      together.addAll(group);
      if (block.size() > keys.size() && lineWidth(together, widths) > width) {
        blocks.add(block);
        block = new ArrayList<>(keys);
      }
      for (int column : group) {
        List<Integer> more = new ArrayList<>(block);
        more.add(column);
        if (block.size() > keys.size() && lineWidth(more, widths) > width) {
          blocks.add(block);
          block = new ArrayList<>(keys);
        }
        block.add(column);
      }
    }
    blocks.add(block);
    return blocks;
  }

  private static int lineWidth(List<Integer> block, int[] widths) {
    return block.stream().mapToInt(i -> widths[i] + 2).sum() - 2;
  }

  /** With plain spaces: what a reader searches a terminal or a Markdown file for. */
  private static String breakable(CharSequence text) {
    return text.toString().replace('\u00A0', ' ');
  }

  private void line(StringBuilder out, List<String> cells, int[] widths, List<Integer> block) {
    StringBuilder line = new StringBuilder();
    for (int i : block) {
      String cell = cells.get(i);
      String padding = " ".repeat(widths[i] - length(cell));
      line.append(line.isEmpty() ? "" : "  ");
      line.append(columns.get(i).numeric() ? padding + cell : cell + padding);
    }
    out.append(line.toString().stripTrailing()).append('\n');
  }

  /** This table in ASCII, as it is printed where a terminal's character set is unknown. */
  public Table ascii() {
    return new Table(
        columns.stream()
            .map(each -> new Column(ascii(each.heading()), each.numeric(), ascii(each.group())))
            .toList(),
        rows.stream().map(row -> row.stream().map(Table::ascii).toList()).toList(),
        notes.stream().map(Table::ascii).toList());
  }

  private static String ascii(String text) {
    return text.replace('µ', 'u')
        .replace('–', '-')
        .replace('−', '-')
        .replace('\u00A0', ' ')
        .replace("≤", "<=");
  }

  private static int length(String cell) {
    return cell.codePointCount(0, cell.length());
  }

  /** GitHub-flavoured Markdown; notes as a paragraph each. */
  public String markdown() {
    StringBuilder out = new StringBuilder();
    markdownRow(out, columns.stream().map(column -> escaped(column.heading())).toList());
    markdownRow(out, columns.stream().map(c -> c.numeric() ? "---:" : "---").toList());
    rows.forEach(row -> markdownRow(out, row.stream().map(Table::escaped).toList()));
    notes.forEach(note -> out.append('\n').append(escaped(note)).append('\n'));
    return breakable(out);
  }

  private static void markdownRow(StringBuilder out, List<String> cells) {
    out.append("| ").append(String.join(" | ", cells)).append(" |\n");
  }

  private static String escaped(String text) {
    return text.replace("|", "\\|");
  }

  /**
   * Comma-separated values of the rows as RFC 4180 has them, without the notes, which are no rows.
   */
  public String csv() {
    List<List<String>> lines = new ArrayList<>(rows);
    lines.addFirst(columns.stream().map(Column::heading).toList());
    return breakable(Csv.text(lines));
  }

  /** Rows by heading, and the notes, ready to be written as JSON. */
  public SequencedMap<String, Object> tree() {
    List<Map<String, String>> lines = new ArrayList<>();
    for (List<String> row : rows) {
      Map<String, String> line = new LinkedHashMap<>();
      for (int i = 0; i < row.size(); i++) {
        String heading = columns.get(i).heading();
        line.put(line.containsKey(heading) ? heading + " " + (i + 1) : heading, row.get(i));
      }
      lines.add(line);
    }
    SequencedMap<String, Object> tree = new LinkedHashMap<>();
    tree.put("rows", lines);
    tree.put("notes", notes);
    return tree;
  }

  /** The tabular alone, for a table environment with a caption of its own. */
  public String bareLatex() {
    return tabular(columns.stream().map(_ -> 0.0).toList()) + "\n";
  }

  /**
   * A LaTeX tabular for the booktabs package. Notes go below it and are no wider than it is: in one
   * box with it, so that they cannot be lost.
   */
  public String latex() {
    StringBuilder out = new StringBuilder("\\sbox0{").append(tabular(widths()));
    out.append("}%\n\\parbox{\\wd0}{\\usebox0\\par");
    out.append("\\vskip2pt\\footnotesize\\raggedright\n");
    notes.forEach(note -> out.append(latexEscaped(note)).append("\\par\n"));
    return out.append("}\n").toString();
  }

  private String tabular(List<Double> widths) {
    StringBuilder out = new StringBuilder("\\begin{tabular}{");
    for (int i = 0; i < columns.size(); i++) {
      if (widths.get(i) > 0) {
        out.append("p{").append(Units.fixed(widths.get(i), 2)).append("\\linewidth}");
      } else {
        out.append(columns.get(i).numeric() ? 'r' : 'l');
      }
    }
    out.append("}\n\\toprule\n");
    latexRow(out, columns.stream().map(Column::heading).toList(), widths);
    out.append("\\midrule\n");
    rows.forEach(row -> latexRow(out, row, widths));
    return out.append("\\bottomrule\n\\end{tabular}").toString();
  }

  /**
   * Widths of the columns as shares of the line, where sentences need to be broken; 0 where a
   * column is as wide as its cells.
   */
  private List<Double> widths() {
    List<Integer> longest = Arrays.stream(widthsInCells()).boxed().toList();
    double whole = longest.stream().filter(n -> n <= SENTENCE).mapToInt(n -> n + 2).sum();
    double broken = longest.stream().filter(n -> n > SENTENCE).mapToDouble(Math::sqrt).sum();
    double room = Math.max(0.3, 1 - whole / LINE) - 0.02 * columns.size();
    return longest.stream().map(n -> n > SENTENCE ? room * Math.sqrt(n) / broken : 0).toList();
  }

  private static void latexRow(StringBuilder out, List<String> cells, List<Double> widths) {
    List<String> escaped = new ArrayList<>();
    boolean broken = false;
    for (int i = 0; i < cells.size(); i++) {
      boolean sentence = widths.get(i) > 0;
      broken |= sentence;
      escaped.add((sentence ? "\\raggedright " : "") + latexEscaped(cells.get(i)));
    }
    // A bracket at the start of a row would be taken for the optional argument of the \\ before it.
    out.append(escaped.getFirst().startsWith("[") ? "{}" : "");
    out.append(String.join(" & ", escaped));
    // Ragged text gives the double backslash another meaning.
    out.append(broken ? " \\tabularnewline\n" : " \\\\\n");
  }

  private static String latexEscaped(String text) {
    StringBuilder out = new StringBuilder();
    text.codePoints()
        .forEach(
            c -> {
              switch (c) {
                case '\\' -> out.append("\\textbackslash{}");
                case '&', '%', '$', '#', '_', '{', '}' -> out.append('\\').appendCodePoint(c);
                case '~' -> out.append("\\textasciitilde{}");
                case '^' -> out.append("\\textasciicircum{}");
                case 'µ' -> out.append("$\\mu$");
                case '\u00A0' -> out.append('~');
                case '−' -> out.append("$-$");
                case '±' -> out.append("$\\pm$");
                case '×' -> out.append("$\\times$");
                case 'α' -> out.append("$\\alpha$");
                case '≤' -> out.append("$\\le$");
                case '≥' -> out.append("$\\ge$");
                case '→' -> out.append("$\\to$");
                case '<', '>', '|' -> out.append('$').appendCodePoint(c).append('$');
                case '–' -> out.append("--");
                default -> out.appendCodePoint(c);
              }
            });
    return out.toString();
  }
}
