package dev.doorbell.experiments.cli.command;

import dev.doorbell.experiments.results.print.Table;
import dev.doorbell.experiments.results.print.Table.Column;
import java.util.ArrayList;
import java.util.List;

/** A table for the terminal, built column by column and row by row. */
public final class TextTable {
  private final List<Column> columns = new ArrayList<>();
  private final List<List<String>> rows = new ArrayList<>();

  public TextTable left(String header) {
    columns.add(new Column(header, false));
    return this;
  }

  public TextTable right(String header) {
    columns.add(new Column(header, true));
    return this;
  }

  public void row(List<String> cells) {
    rows.add(cells);
  }

  public String text() {
    return new Table(columns, rows, List.of()).text();
  }
}
