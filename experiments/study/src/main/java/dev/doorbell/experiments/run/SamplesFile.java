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
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
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
    Reader reader = new Reader(in);
    List<Reader.@Nullable Column> columns = reader.header(wanted);
    reader.rows(columns);
    List<RunIndex.Values> series = new ArrayList<>();
    for (Reader.Column column : columns) {
      if (column != null) {
        series.add(new RunIndex.Values(column.metric, column.unit, column.values()));
      }
    }
    return series;
  }

  /**
   * Reads a samples file in one pass, without holding its text: ten million samples cost their
   * doubles and one chunk more.
   */
  private static final class Reader {
    private static final String BASIS =
        Arrays.stream(Basis.values()).map(Basis::word).collect(Collectors.joining("|", "(?:", ")"));

    private static final Pattern COLUMN = Pattern.compile("(.+) \\[([^\\[]*)](?: " + BASIS + ")?");

    private static final int BUFFER_BYTES = 1 << 16;
    private static final int CHUNK = 1 << 16;
    private static final int LONGEST_NUMBER = 32;

    /** Up to here a whole number of digits is exact, and so is a power of ten: one rounding. */
    private static final long EXACT_DIGITS = 1L << 53;

    private static final double[] TENTHS = new double[23];

    static {
      double power = 1;
      for (int i = 0; i < TENTHS.length; i++) {
        TENTHS[i] = power;
        power *= 10;
      }
    }

    private final InputStream in;
    private final byte[] buffer = new byte[BUFFER_BYTES];
    private int at;
    private int end;
    private final byte[] cell = new byte[LONGEST_NUMBER];

    private Reader(InputStream in) {
      this.in = in;
    }

    /** A column under way; absent values stay at its end. */
    private static final class Column {
      final String metric;
      final String unit;
      private final List<double[]> chunks = new ArrayList<>();
      private int size;

      Column(String metric, String unit) {
        this.metric = metric;
        this.unit = unit;
      }

      void add(double value) {
        int place = size % CHUNK;
        if (place == 0) {
          chunks.add(new double[CHUNK]);
        }
        chunks.getLast()[place] = value;
        size++;
      }

      double[] values() {
        double[] values = new double[size];
        int copied = 0;
        while (!chunks.isEmpty()) {
          double[] chunk = chunks.removeFirst();
          int count = Math.min(CHUNK, size - copied);
          System.arraycopy(chunk, 0, values, copied, count);
          copied += count;
        }
        return values;
      }
    }

    private List<@Nullable Column> header(Predicate<String> wanted) throws IOException {

      byte[] text = new byte[BUFFER_BYTES];
      int length = 0;
      int next = next();
      if (next < 0) {
        throw bad("a samples file has no header");
      }
      while (next >= 0 && next != '\n') {
        if (length == text.length) {
          throw bad("its header does not end");
        }
        text[length++] = (byte) next;
        next = next();
      }
      String line = new String(text, 0, length, StandardCharsets.UTF_8);
      List<@Nullable Column> columns = new ArrayList<>();
      try (CsvReader<CsvRecord> csv = CsvReader.builder().ofCsvRecord(line)) {
        for (CsvRecord names : csv) {
          for (String name : names.getFields()) {
            Matcher header = COLUMN.matcher(name);
            if (!header.matches()) {
              throw bad("a column is not 'metric [unit] basis': " + name);
            }
            columns.add(
                wanted.test(header.group(1)) ? new Column(header.group(1), header.group(2)) : null);
          }
        }
      } catch (CsvParseException e) {
        throw bad("its header is no CSV: " + e.getMessage());
      }
      return columns;
    }

    private void rows(List<@Nullable Column> columns) throws IOException {
      int column = 0;
      int length = 0;
      boolean any = false;
      for (int next = next(); ; next = next()) {
        if (next == ',' || next == '\n' || next < 0) {
          if (next < 0 && !any) {
            return;
          }
          if (column >= columns.size()) {
            throw bad("a row has more cells than the header");
          }
          Column target = columns.get(column);
          if (length > 0 && target != null) {
            target.add(number(length));
          }
          length = 0;
          any = next == ',';
          column++;
          if (next != ',') {
            if (column != columns.size()) {
              throw bad("a row has fewer cells than the header");
            }
            column = 0;
            if (next < 0) {
              return;
            }
          }
        } else {
          if (length == LONGEST_NUMBER) {
            throw bad("a cell is no number");
          }
          cell[length++] = (byte) next;
          any = true;
        }
      }
    }

    private int next() throws IOException {
      if (at == end) {
        end = in.read(buffer);
        at = 0;
        if (end <= 0) {
          end = 0;
          return -1;
        }
      }
      return buffer[at++];
    }

    /** The number that the cell spells, correctly rounded. */
    private double number(int length) throws IOException {
      long digits = 0;
      int fraction = -1;
      int from = cell[0] == '-' ? 1 : 0;
      for (int i = from; i < length; i++) {
        int c = cell[i];
        if (c == '.' && fraction < 0) {
          fraction = 0;
          continue;
        }
        if (c < '0' || c > '9' || digits > EXACT_DIGITS / 10 - 1) {
          return parsed(length);
        }
        digits = digits * 10 + (c - '0');
        fraction += fraction < 0 ? 0 : 1;
      }
      if (length == from || fraction >= TENTHS.length) {
        return parsed(length);
      }
      double value = fraction <= 0 ? digits : digits / TENTHS[fraction];
      return from == 1 ? -value : value;
    }

    private double parsed(int length) throws IOException {
      String text = new String(Arrays.copyOf(cell, length), StandardCharsets.US_ASCII);
      try {
        double value = Double.parseDouble(text);
        if (!Double.isFinite(value)) {
          throw bad("a cell is no number: " + text);
        }
        return value;
      } catch (NumberFormatException _) {
        throw bad("a cell is no number: " + text);
      }
    }

    private static IOException bad(String what) {
      return new IOException(NO_SAMPLES + what);
    }
  }
}
