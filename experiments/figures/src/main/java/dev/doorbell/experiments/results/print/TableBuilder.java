package dev.doorbell.experiments.results.print;

import dev.doorbell.experiments.results.print.Table.Column;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/** Builds a table from rows of one type: each column is a heading and a function of a row. */
public final class TableBuilder<R> {
  private final List<Column> columns = new ArrayList<>();
  private final List<Function<? super R, String>> cells = new ArrayList<>();

  private String group = "";

  /** Columns from here on are about one thing, and stay together in a narrow terminal. */
  public TableBuilder<R> group(String name) {
    group = name;
    return this;
  }

  /** Adds a column of words. */
  public TableBuilder<R> left(String heading, Function<? super R, String> cell) {
    return column(heading, false, cell);
  }

  /** Adds a column of numbers. */
  public TableBuilder<R> right(String heading, Function<? super R, String> cell) {
    return column(heading, true, cell);
  }

  public TableBuilder<R> column(String heading, boolean numeric, Function<? super R, String> cell) {
    columns.add(new Column(heading, numeric, group));
    cells.add(cell);
    return this;
  }

  public Table table(Iterable<? extends R> rows, List<String> notes) {
    List<List<String>> lines = new ArrayList<>();
    for (R row : rows) {
      lines.add(cells.stream().map(cell -> cell.apply(row)).toList());
    }
    return new Table(columns, lines, notes);
  }
}
