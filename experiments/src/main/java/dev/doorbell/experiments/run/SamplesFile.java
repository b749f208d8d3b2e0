package dev.doorbell.experiments.run;

import de.siegmar.fastcsv.writer.CsvWriter;
import de.siegmar.fastcsv.writer.LineDelimiter;
import dev.doorbell.core.Basis;
import dev.doorbell.experiments.plan.Samples;
import java.io.BufferedWriter;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * Raw samples of one point as CSV: a column a metric, named {@code latency [ns] modelled} with unit
 * and basis, a row a sample. Cells after a metric's last sample are empty. Files of older runs name
 * no basis.
 */
public final class SamplesFile {
  private static final double WHOLE = 1L << 53;

  private SamplesFile() {}

  /** Returns the name of the file of a point. */
  static String name(String point) {
    return point + ".csv";
  }

  /** Returns the text of the file. */
  public static byte[] encode(List<Samples> metrics, Basis basis) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (Writer text = new BufferedWriter(new OutputStreamWriter(bytes, StandardCharsets.UTF_8))) {
      CsvWriter csv = CsvWriter.builder().lineDelimiter(LineDelimiter.LF).build(text);
      csv.writeRecord(
          metrics.stream()
              .map(m -> "%s [%s] %s".formatted(m.metric(), m.unit(), basis.word()))
              .toList());
      csv.flush();
      int rows = metrics.stream().mapToInt(Samples::size).max().orElse(0);
      for (int row = 0; row < rows; row++) {
        for (int column = 0; column < metrics.size(); column++) {
          Samples samples = metrics.get(column);
          if (column > 0) {
            text.write(',');
          }
          if (row < samples.size()) {
            text.write(number(samples.value(row)));
          }
        }
        text.write('\n');
      }
    } catch (IOException e) {
      throw new IllegalStateException("memory took no more text", e);
    }
    return bytes.toByteArray();
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
  public static List<Samples> decode(byte[] bytes) throws IOException {
    return SamplesReader.samples(new ByteArrayInputStream(bytes));
  }
}
