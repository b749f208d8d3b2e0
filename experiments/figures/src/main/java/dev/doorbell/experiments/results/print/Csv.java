package dev.doorbell.experiments.results.print;

import de.siegmar.fastcsv.writer.CsvWriter;
import de.siegmar.fastcsv.writer.LineDelimiter;
import dev.doorbell.core.print.CsvCell;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.util.List;

/** Comma-separated values as RFC 4180 defines them, but with a single newline after a row. */
public final class Csv {
  private Csv() {}

  /** One line for each row. Numbers have all their digits; NaN is written as {@code nan}. */
  public static String text(List<? extends List<?>> rows) {
    StringWriter text = new StringWriter();
    try (CsvWriter csv = CsvWriter.builder().lineDelimiter(LineDelimiter.LF).build(text)) {
      for (List<?> row : rows) {
        csv.writeRecord(row.stream().map(Csv::cell).toList());
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return text.toString();
  }

  private static String cell(Object value) {
    return switch (value) {
      case Double number when number.isNaN() -> "nan";
      case Double number -> Units.plain(number);
      case String text -> CsvCell.text(text);
      default -> value.toString();
    };
  }
}
