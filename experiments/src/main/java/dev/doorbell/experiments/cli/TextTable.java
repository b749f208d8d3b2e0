package dev.doorbell.experiments.cli;

import java.util.ArrayList;
import java.util.List;

/** Columns of text, as wide as their widest cell, with two spaces between them. */
final class TextTable {
  private final List<Boolean> right = new ArrayList<>();
  private final List<List<String>> rows = new ArrayList<>();

  TextTable() {
    rows.add(new ArrayList<>());
  }

  /** Adds a column of words. */
  TextTable left(String header) {
    return column(header, false);
  }

  /** Adds a column of numbers. */
  TextTable right(String header) {
    return column(header, true);
  }

  private TextTable column(String header, boolean alignRight) {
    rows.getFirst().add(header);
    right.add(alignRight);
    return this;
  }

  void row(List<String> cells) {
    rows.add(List.copyOf(cells));
  }

  String text() {
    int[] widths = new int[right.size()];
    for (List<String> row : rows) {
      for (int i = 0; i < row.size(); i++) {
        widths[i] = Math.max(widths[i], row.get(i).length());
      }
    }
    StringBuilder text = new StringBuilder();
    for (List<String> row : rows) {
      StringBuilder line = new StringBuilder();
      for (int i = 0; i < row.size(); i++) {
        String padding = " ".repeat(widths[i] - row.get(i).length());
        line.append(i == 0 ? "" : "  ");
        line.append(right.get(i) ? padding + row.get(i) : row.get(i) + padding);
      }
      text.append(line.toString().stripTrailing()).append('\n');
    }
    return text.toString();
  }
}
