package dev.doorbell.experiments.run;

import de.siegmar.fastcsv.reader.CsvReader;
import de.siegmar.fastcsv.reader.CsvRecord;
import de.siegmar.fastcsv.writer.CsvWriter;
import de.siegmar.fastcsv.writer.LineDelimiter;
import dev.doorbell.experiments.plan.Samples;
import java.io.IOException;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Raw samples of one point as CSV: a column a metric, named {@code latency [ns]}, a row a sample.
 * Cells after a metric's last sample are empty.
 */
final class SamplesFile {
  private static final Pattern COLUMN = Pattern.compile("(.+) \\[(.*)]");
  private static final double WHOLE = 1L << 53;

  private SamplesFile() {}

  static byte[] encode(List<Samples> metrics) {
    StringWriter text = new StringWriter();
    try (CsvWriter csv = CsvWriter.builder().lineDelimiter(LineDelimiter.LF).build(text)) {
      csv.writeRecord(
          metrics.stream().map(m -> "%s [%s]".formatted(m.metric(), m.unit())).toList());
      int rows = metrics.stream().mapToInt(Samples::size).max().orElse(0);
      for (int row = 0; row < rows; row++) {
        List<String> cells = new ArrayList<>();
        for (Samples samples : metrics) {
          cells.add(row < samples.size() ? number(samples.value(row)) : "");
        }
        csv.writeRecord(cells);
      }
    } catch (IOException e) {
      throw new IllegalStateException("a string took no more text", e);
    }
    return text.toString().getBytes(StandardCharsets.UTF_8);
  }

  /** The shortest text that reads back as the same number. */
  static String number(double value) {
    return value == Math.rint(value) && Math.abs(value) <= WHOLE
        ? Long.toString((long) value)
        : Double.toString(value);
  }

  /**
   * Reads samples back.
   *
   * @throws IOException when the text is not what {@link #encode} writes
   */
  static List<Samples> decode(byte[] bytes) throws IOException {
    List<List<String>> rows = new ArrayList<>();
    try (CsvReader<CsvRecord> csv =
        CsvReader.builder().ofCsvRecord(new String(bytes, StandardCharsets.UTF_8))) {
      csv.forEach(row -> rows.add(row.getFields()));
      return columns(rows);
    } catch (RuntimeException e) {
      throw new IOException("not a samples file: " + e.getMessage(), e);
    }
  }

  private static List<Samples> columns(List<List<String>> rows) throws IOException {
    if (rows.isEmpty()) {
      throw new IOException("a samples file has no header");
    }
    List<Samples> metrics = new ArrayList<>();
    for (int column = 0; column < rows.getFirst().size(); column++) {
      Matcher header = COLUMN.matcher(rows.getFirst().get(column));
      if (!header.matches()) {
        throw new IOException("a column is not 'metric [unit]': " + rows.getFirst().get(column));
      }
      double[] values = new double[rows.size() - 1];
      int filled = 0;
      for (List<String> row : rows.subList(1, rows.size())) {
        if (!row.get(column).isEmpty()) {
          values[filled++] = Double.parseDouble(row.get(column));
        }
      }
      metrics.add(Samples.of(header.group(1), header.group(2), Arrays.copyOf(values, filled)));
    }
    return metrics;
  }
}
