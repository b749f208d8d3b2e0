package dev.doorbell.experiments.results.report;

import dev.doorbell.experiments.results.print.Table;
import java.util.List;
import java.util.Locale;

/** Pieces of a page. Every text that comes from outside is escaped. */
final class Html {
  /** Longer cells are broken into lines. */
  private static final int SENTENCE = 40;

  private final StringBuilder out = new StringBuilder(1 << 16);

  Html raw(String markup) {
    out.append(markup);
    return this;
  }

  Html text(String text) {
    out.append(escaped(text));
    return this;
  }

  Html element(String name, String text) {
    out.append('<').append(name).append('>').append(escaped(text));
    out.append("</").append(name).append(">\n");
    return this;
  }

  /** A table that sorts by the column whose heading is clicked. */
  Html table(Table table) {
    raw("<div class=\"scroll\"><table class=\"sortable\"><thead><tr>");
    for (Table.Column column : table.columns()) {
      raw("<th scope=\"col\" tabindex=\"0\"").raw(column.numeric() ? " class=\"number\">" : ">");
      text(column.heading()).raw("</th>");
    }
    raw("</tr></thead><tbody>\n");
    for (List<String> row : table.rows()) {
      raw("<tr>");
      for (int i = 0; i < row.size(); i++) {
        boolean verdict = table.columns().get(i).heading().equals("verdict");
        raw(
            verdict
                ? "<td class=\"verdict %s\">"
                    .formatted(
                        row.get(i)
                            .replaceAll(" \\(.*", "")
                            .toLowerCase(Locale.ROOT)
                            .replace(' ', '-'))
                : table.columns().get(i).numeric()
                    ? "<td class=\"number\">"
                    : row.get(i).length() > SENTENCE ? "<td class=\"text\">" : "<td>");
        text(row.get(i)).raw("</td>");
      }
      raw("</tr>\n");
    }
    raw("</tbody></table></div>\n");
    for (String note : table.notes()) {
      raw("<p class=\"note\">").text(note).raw("</p>\n");
    }
    return this;
  }

  Html facts(List<List<String>> facts) {
    raw("<table class=\"facts\"><tbody>\n");
    for (List<String> fact : facts) {
      raw("<tr><th scope=\"row\">").text(fact.getFirst()).raw("</th><td>");
      text(fact.getLast()).raw("</td></tr>\n");
    }
    return raw("</tbody></table>\n");
  }

  static String escaped(String text) {
    return text.replace("&", "&amp;")
        .replace("<", "&lt;")
        .replace(">", "&gt;")
        .replace("\"", "&quot;");
  }

  @Override
  public String toString() {
    return out.toString();
  }
}
