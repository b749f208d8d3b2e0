package dev.doorbell.experiments.run;

import de.siegmar.fastcsv.reader.CsvParseException;
import de.siegmar.fastcsv.reader.CsvReader;
import de.siegmar.fastcsv.reader.CsvRecord;
import de.siegmar.fastcsv.writer.CsvWriter;
import de.siegmar.fastcsv.writer.LineDelimiter;
import dev.doorbell.core.Basis;
import dev.doorbell.experiments.plan.Samples;
import java.io.BufferedWriter;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.DoubleStream;
import org.jspecify.annotations.Nullable;

/**
 * Raw samples of one point as CSV: a column a metric, named {@code latency [ns] modelled} with unit
 * and basis, a row a sample. Cells after a metric's last sample are empty. Files of older runs name
 * no basis.
 */
public final class SamplesFile {
  /** Beginning of the message of every exception about the text. */
  static final String NO_SAMPLES = "not a samples file: ";

  private static final double WHOLE = 1L << 53;
  private static final int LONGEST_NUMBER = 32;

  private static final String BASIS =
      Arrays.stream(Basis.values()).map(Basis::word).collect(Collectors.joining("|", "(?:", ")"));

  private static final Pattern COLUMN = Pattern.compile("(.+) \\[([^\\[]*)](?: " + BASIS + ")?");

  private SamplesFile() {}

  static String name(String point) {
    return point + ".csv";
  }

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

  /** Reads the columns that are wanted, in their order. */
  public static List<RunIndex.Values> read(InputStream in, Predicate<String> wanted)
      throws IOException {
    try (CsvReader<CsvRecord> csv =
        CsvReader.builder()
            .skipEmptyLines(false)
            .ofCsvRecord(new InputStreamReader(in, StandardCharsets.UTF_8))) {
      Iterator<CsvRecord> records = csv.iterator();
      if (!records.hasNext()) {
        throw bad("a samples file has no header");
      }
      List<@Nullable Column> columns = new ArrayList<>();
      List<String> names = records.next().getFields();
      // A point that only counts has an empty header.
      for (String name : names.equals(List.of("")) ? List.<String>of() : names) {
        Matcher header = COLUMN.matcher(name);
        if (!header.matches()) {
          throw bad("a column is not 'metric [unit] basis': " + name);
        }
        columns.add(
            wanted.test(header.group(1))
                ? new Column(header.group(1), header.group(2), DoubleStream.builder())
                : null);
      }
      while (records.hasNext()) {
        CsvRecord record = records.next();
        if (record.getFieldCount() != columns.size()) {
          throw bad(
              "a row has %s cells than the header"
                  .formatted(record.getFieldCount() > columns.size() ? "more" : "fewer"));
        }
        for (int i = 0; i < columns.size(); i++) {
          Column column = columns.get(i);
          String cell = record.getField(i);
          if (column != null && !cell.isEmpty()) {
            column.values.add(value(cell));
          }
        }
      }
      List<RunIndex.Values> series = new ArrayList<>();
      for (Column column : columns) {
        if (column != null) {
          series.add(
              new RunIndex.Values(column.metric, column.unit, column.values.build().toArray()));
        }
      }
      return series;
    } catch (CsvParseException e) {
      throw bad("it is no CSV: " + e.getMessage());
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
  }

  private record Column(String metric, String unit, DoubleStream.Builder values) {}

  private static double value(String cell) throws IOException {
    try {
      double value = cell.length() > LONGEST_NUMBER ? Double.NaN : Double.parseDouble(cell);
      if (Double.isFinite(value)) {
        return value;
      }
    } catch (NumberFormatException _) {
      // Said below, as for one that is not finite.
    }
    throw bad("a cell is no number: %.40s".formatted(cell));
  }

  private static IOException bad(String what) {
    return new IOException(NO_SAMPLES + what);
  }
}
