package dev.doorbell.experiments.cli;

import dev.doorbell.experiments.figures.Table;
import dev.doorbell.experiments.figures.Table.Column;
import java.util.ArrayList;
import java.util.List;

/** A table for the terminal, built column by column and row by row. */
final class TextTable {
  private final List<Column> columns = new ArrayList<>();
  private final List<List<String>> rows = new ArrayList<>();

  /** Adds a column of words. */
  TextTable left(String header) {
    columns.add(new Column(header, false));
    return this;
  }

  /** Adds a column of numbers. */
  TextTable right(String header) {
    columns.add(new Column(header, true));
    return this;
  }

  void row(List<String> cells) {
    rows.add(cells);
  }

  String text() {
    return new Table(columns, rows, List.of()).text();
  }
}
