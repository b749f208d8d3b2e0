package dev.doorbell.experiments.results.print;

import dev.doorbell.experiments.results.print.Table.Column;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * A table as a LaTeX tabular for booktabs and siunitx. A column of numbers is as wide as its
 * numbers ({@code S[table-format=2.3]}), an interval is two such columns, and what columns have in
 * common stands once above them. A unit that all cells share goes into the heading.
 */
final class SiunitxTabular {
  private static final Pattern NUMBER =
      Pattern.compile(
          "(?<sign>[+−-]?)(?<whole>[0-9]+)(?:[.](?<decimals>[0-9]+))?(?<unit>[\\u00A0 ].+)?");
  private static final Pattern INTERVAL = Pattern.compile("\\[([^,]+), ([^\\]]+)\\]");
  private static final String METRIC = "metric ";

  private final Table table;
  private final List<List<String>> cells = new ArrayList<>();

  SiunitxTabular(Table table) {
    this.table = table;
    for (int i = 0; i < table.columns().size(); i++) {
      int column = i;
      cells.add(table.rows().stream().map(row -> row.get(column)).toList());
    }
  }

  String text() {
    List<Part> parts = new ArrayList<>();
    for (int i = 0; i < cells.size(); i++) {
      parts.add(part(i));
    }
    StringBuilder out = new StringBuilder("\\begin{tabular}{");
    parts.forEach(part -> out.append(part.format()));
    out.append("}\n\\toprule\n");
    above(parts, out);
    line(out, parts.stream().map(Part::heading).toList());
    out.append("\\midrule\n");
    for (int row = 0; row < table.rows().size(); row++) {
      int at = row;
      line(out, parts.stream().map(part -> part.cells().get(at)).toList());
    }
    return out.append("\\bottomrule\n\\end{tabular}\n").toString();
  }

  /** A column as LaTeX has it, which takes {@code columns} of the tabular. */
  private record Part(String format, int columns, String heading, List<String> cells) {}

  private Part part(int index) {
    Column column = table.columns().get(index);
    List<String> all = cells.get(index);
    List<String> some = all.stream().filter(cell -> !isNone(cell)).toList();
    Part interval = interval(all, some);
    if (interval != null) {
      return interval;
    }
    Set<String> units = some.stream().map(SiunitxTabular::unit).collect(Collectors.toSet());
    boolean numbers =
        column.numeric()
            && units.size() == 1
            && some.stream().allMatch(cell -> NUMBER.matcher(cell).matches());
    String heading = heading(column);
    if (!numbers) {
      return new Part(
          column.numeric() ? "r" : "l",
          1,
          Table.latexEscaped(heading),
          all.stream().map(Table::latexEscaped).toList());
    }
    String unit = units.iterator().next();
    return new Part(
        format(some),
        1,
        "{" + Table.latexEscaped(heading) + (unit.isEmpty() ? "" : " / " + unitText(unit)) + "}",
        all.stream().map(SiunitxTabular::number).toList());
  }

  /** Both ends of intervals; null where cells are none. */
  private static @Nullable Part interval(List<String> all, List<String> some) {
    List<Matcher> ends = some.stream().map(INTERVAL::matcher).filter(Matcher::matches).toList();
    boolean intervals =
        !ends.isEmpty()
            && ends.size() == some.size()
            && ends.stream()
                .flatMap(end -> IntStream.of(1, 2).mapToObj(end::group))
                .allMatch(end -> NUMBER.matcher(end).matches() && unit(end).isEmpty());
    if (!intervals) {
      return null;
    }
    List<String> cells = new ArrayList<>();
    for (String cell : all) {
      Matcher end = INTERVAL.matcher(cell);
      cells.add(
          end.matches()
              ? number(end.group(1)) + " & " + number(end.group(2))
              : "\\multicolumn{2}{c}{" + Table.latexEscaped(cell) + "}");
    }
    String format =
        format(ends.stream().map(end -> end.group(1)).toList())
            + "@{\\,--\\,}"
            + format(ends.stream().map(end -> end.group(2)).toList());
    return new Part(format, 2, "\\multicolumn{2}{c}{95\\,\\% CI}", cells);
  }

  /** Digits before and behind the point, and room for a sign where there is one. */
  private static String format(List<String> numbers) {
    boolean signed = false;
    int whole = 1;
    int decimals = 0;
    for (String number : numbers) {
      Matcher parts = NUMBER.matcher(number);
      if (parts.matches()) {
        signed |= !parts.group("sign").isEmpty();
        whole = Math.max(whole, parts.group("whole").length());
        decimals =
            Math.max(decimals, Objects.requireNonNullElse(parts.group("decimals"), "").length());
      }
    }
    return "S[table-format=%s%d.%d]".formatted(signed ? "+" : "", whole, decimals);
  }

  private static String number(String cell) {
    Matcher parts = NUMBER.matcher(cell);
    if (!parts.matches()) {
      return "{" + Table.latexEscaped(cell) + "}";
    }
    String decimals = parts.group("decimals");
    return parts.group("sign").replace('−', '-')
        + parts.group("whole")
        + (decimals == null ? "" : "." + decimals);
  }

  private static String unit(String cell) {
    Matcher parts = NUMBER.matcher(cell);
    return parts.matches() && parts.group("unit") != null
        ? parts.group("unit").strip().replace("\u00A0", "")
        : "";
  }

  private static boolean isNone(String cell) {
    return cell.isEmpty() || cell.equals(Names.NONE);
  }

  private static String unitText(String unit) {
    return switch (unit) {
      case "%" -> "\\%";
      case "µs" -> "\\si{\\micro\\second}";
      default -> "\\si{" + unit.replace("%", "\\%").replace("µ", "\\micro ") + "}";
    };
  }

  private static String heading(Column column) {
    String metric = metric(column);
    return metric.isEmpty() || !column.heading().startsWith(metric + " p50")
        ? column.heading()
        : "p50";
  }

  private static String metric(Column column) {
    return column.group().startsWith(METRIC) ? column.group().substring(METRIC.length()) : "";
  }

  /** Heading above the columns of a group: a metric with the unit of its median, or a value. */
  private String above(String group, int first, int last) {
    Column column = table.columns().get(first);
    String metric = metric(column);
    if (metric.isEmpty()) {
      return Table.latexEscaped(group);
    }
    String start = metric + " p50 ";
    for (int i = first; i <= last; i++) {
      String heading = table.columns().get(i).heading();
      if (heading.startsWith(start)) {
        return Table.latexEscaped(metric) + " / " + unitText(heading.substring(start.length()));
      }
    }
    return Table.latexEscaped(metric);
  }

  /** The line above the headings, where columns belong together. */
  private void above(List<Part> parts, StringBuilder out) {
    List<String> line = new ArrayList<>();
    StringBuilder rules = new StringBuilder();
    int at = 1;
    int i = 0;
    while (i < parts.size()) {
      String group = table.columns().get(i).group();
      int last = i;
      int width = parts.get(i).columns();
      while (!group.isEmpty()
          && last + 1 < parts.size()
          && table.columns().get(last + 1).group().equals(group)) {
        last++;
        width += parts.get(last).columns();
      }
      if (group.isEmpty()) {
        line.add("");
      } else {
        line.add("\\multicolumn{%d}{c}{%s}".formatted(width, above(group, i, last)));
        rules.append("\\cmidrule(lr){%d-%d}".formatted(at, at + width - 1));
      }
      at += width;
      i = last + 1;
    }
    if (!rules.isEmpty()) {
      line(out, line);
      out.append(rules).append('\n');
    }
  }

  private static void line(StringBuilder out, List<String> cells) {
    out.append(cells.getFirst().startsWith("[") ? "{}" : "");
    out.append(String.join(" & ", cells)).append(" \\\\\n");
  }
}
