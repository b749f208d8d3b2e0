package dev.doorbell.experiments.workbench.validation;

import de.siegmar.fastcsv.reader.CommentStrategy;
import de.siegmar.fastcsv.reader.CsvParseException;
import de.siegmar.fastcsv.reader.CsvReader;
import de.siegmar.fastcsv.reader.NamedCsvRecord;
import dev.doorbell.core.Resources;
import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.core.problem.Nearest;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.config.document.DocumentKind;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Files of published rows: those that come with the program, and others by path. */
public final class RowFile {
  /** Units that a row's value may have. */
  static final List<String> UNITS = List.of("us", "ns", "M/s", "GB/s");

  /** Relative error up to which a row counts as met, unless it says otherwise. */
  public static final double BAR = 0.15;

  private static final DocumentKind KIND = new DocumentKind("rows", "a table", 'C');
  private static final String FOLDER = "/dev/doorbell/experiments/validation/";
  private static final String ENDING = ".csv";
  private static final List<String> NAMES = List.of("koc", "loom", "h200", "pciebench");
  private static final List<String> NEEDED =
      List.of("id", "machine", "what", "setup", "metric", "value", "unit");
  private static final List<String> OPTIONAL = List.of("config", "bar");

  private static final Set<String> FOLLOWS = readFollows();

  private RowFile() {}

  /** All rows that come with the program, each with its config. */
  public static List<Row> builtIn() {
    try {
      List<Row> rows = new ArrayList<>();
      for (String name : NAMES) {
        rows.addAll(parse(name + ENDING, packaged(name + ENDING), Bindings.builtIn()));
      }
      return rows;
    } catch (ConfigException e) {
      throw new IllegalStateException("a file of rows is broken: " + e.problems(), e);
    }
  }

  /**
   * Reads a file of rows. Those whose id is one of {@link #builtIn} and that have no config take
   * the config of that one.
   *
   * @throws ConfigException with every problem at once
   */
  public static List<Row> load(Path file) throws ConfigException {
    return parse(file.toString(), KIND.text(file), Bindings.builtIn());
  }

  /**
   * Reads a file of rows without their values, which are NaN.
   *
   * @throws ConfigException with every problem at once
   */
  public static List<Row> loadBlind(Path file) throws ConfigException {
    return parse(file.toString(), KIND.text(file), Bindings.builtIn(), Values.UNREAD);
  }

  /** Reads a file of rows some of which may have no value yet: NaN. */
  public static List<Row> loadUnsealed(Path file) throws ConfigException {
    return parse(file.toString(), KIND.text(file), Bindings.builtIn(), Values.IF_ANY);
  }

  /** Predicted rows that follow from others, as {@code id topology}. */
  static Set<String> follows() {
    return FOLLOWS;
  }

  private static Set<String> readFollows() {
    Set<String> rows = new HashSet<>();
    packaged("follows.csv").lines().skip(1).forEach(line -> rows.add(line.replace(',', ' ')));
    return rows;
  }

  /** The part of the column of values that is read. */
  private enum Values {
    ALL,
    IF_ANY,
    UNREAD
  }

  /** The record of blind tests, as a section of a page. */
  public static String blind() {
    return packaged("blind.md");
  }

  /** The text of a file of the folder of rows. */
  static String packaged(String file) {
    return Resources.text(RowFile.class, FOLDER + file);
  }

  static List<Row> parse(String file, String text, Bindings bindings) throws ConfigException {
    return parse(file, text, bindings, Values.ALL);
  }

  private static List<Row> parse(String file, String text, Bindings bindings, Values values)
      throws ConfigException {
    CsvTable table = CsvTable.read(file, text, NEEDED, OPTIONAL);
    List<Problem> problems = new ArrayList<>();
    List<Row> rows = new ArrayList<>();
    Set<String> ids = new HashSet<>();
    for (CsvTable.Line line : table.lines()) {
      Row row = row(line, values, problems);
      if (row.id().isEmpty() || row.machine().isEmpty()) {
        problems.add(wrong(line, "a row has an id and a machine"));
      } else if (!ids.add(row.id())) {
        problems.add(wrong(line, "there are two rows '%s'".formatted(row.id())));
      }
      rows.add(row.config().isEmpty() ? row.bound(bindings.config(row.id())) : row);
    }
    if (!problems.isEmpty()) {
      throw new ConfigException(problems);
    }
    return rows;
  }

  private static Row row(CsvTable.Line line, Values values, List<Problem> problems) {
    boolean unread =
        values == Values.UNREAD || (values == Values.IF_ANY && line.text("value").isEmpty());
    double value = unread ? Double.NaN : number(line, "value", line.text("value"), problems);
    if (value == 0) {
      problems.add(wrong(line, "a value of 0 has no relative error"));
    }
    String bar = line.text("bar");
    double percent = bar.isEmpty() ? 100 * BAR : number(line, "bar", bar, problems);
    if (percent <= 0) {
      problems.add(
          wrong(line, "bar is a share in percent, greater than 0, not '%s'".formatted(bar)));
    }
    String unit = line.text("unit");
    if (!UNITS.contains(unit)) {
      problems.add(
          wrong(line, "unit '%s' is none of %s".formatted(unit, String.join(", ", UNITS))));
    }
    return new Row(
        line.text("id"),
        line.text("machine"),
        line.text("what"),
        line.text("setup"),
        line.text("metric"),
        value,
        unit,
        line.text("config"),
        percent / 100,
        line.place());
  }

  private static double number(
      CsvTable.Line line, String column, String text, List<Problem> problems) {
    try {
      double number = Double.parseDouble(text);
      if (Double.isFinite(number)) {
        return number;
      }
    } catch (NumberFormatException _) {
      // Reported below.
    }
    problems.add(wrong(line, "%s '%s' is not a number".formatted(column, text)));
    return 1;
  }

  private static Problem wrong(CsvTable.Line line, String what) {
    return Problem.of("DB-C080", line.place(), what);
  }

  /** Configs of rows by id, kept apart from the rows, which are facts of their sources. */
  record Bindings(Map<String, String> configs) {
    private static final String FILE = "bindings.csv";

    /** Bindings of the rows that come with the program. */
    static Bindings builtIn() {
      try {
        return parse(FILE, RowFile.packaged(FILE));
      } catch (ConfigException e) {
        throw new IllegalStateException("the file of bindings is broken: " + e.problems(), e);
      }
    }

    static Bindings parse(String file, String text) throws ConfigException {
      Map<String, String> configs = new LinkedHashMap<>();
      CsvTable.read(file, text, List.of("id", "config"), List.of())
          .lines()
          .forEach(line -> configs.put(line.text("id"), line.text("config")));
      return new Bindings(configs);
    }

    /** The config of a row; empty where there is none. */
    String config(String id) {
      return configs.getOrDefault(id, "");
    }
  }

  /**
   * A table of comma-separated values (RFC 4180) whose first line names the columns, in any order.
   * Lines that begin with {@code #} are comments.
   */
  record CsvTable(List<String> columns, List<Line> lines) {

    /**
     * One row.
     *
     * @param place file and line
     */
    record Line(String place, NamedCsvRecord record) {
      /** A column's text without blanks around it; empty where the table lacks the column. */
      String text(String column) {
        return record.findField(column).map(String::strip).orElse("");
      }
    }

    /**
     * Reads a table.
     *
     * @param file what to call it in problems
     * @param needed columns that it must have
     * @param optional columns that it may have
     * @throws ConfigException with everything that is wrong with its columns
     */
    static CsvTable read(String file, String text, List<String> needed, List<String> optional)
        throws ConfigException {
      List<Line> lines = new ArrayList<>();
      try (CsvReader<NamedCsvRecord> reader =
          CsvReader.builder()
              .commentStrategy(CommentStrategy.SKIP)
              .skipEmptyLines(true)
              .ofNamedCsvRecord(text)) {
        reader.forEach(
            each -> lines.add(new Line(file + ":" + each.getStartingLineNumber(), each)));
      } catch (CsvParseException e) {
        Throwable cause = e.getCause() == null ? e : e.getCause();
        throw wrong(file, "not a table of comma-separated values: " + cause.getMessage());
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
      if (lines.isEmpty()) {
        throw wrong(file, "no row below the line of columns " + String.join(",", needed));
      }
      List<String> columns = lines.getFirst().record.getHeader();
      List<String> known = new ArrayList<>(needed);
      known.addAll(optional);
      List<Problem> problems = new ArrayList<>();
      for (String column : needed) {
        if (!columns.contains(column)) {
          problems.add(problem(file, "column '%s' is missing".formatted(column)));
        }
      }
      for (String column : columns) {
        if (!known.contains(column)) {
          problems.add(
              problem(
                  file,
                  "unknown column '%s'%s".formatted(column, Nearest.suggestion(column, known))));
        }
      }
      if (!problems.isEmpty()) {
        throw new ConfigException(problems);
      }
      return new CsvTable(columns, lines);
    }

    private static ConfigException wrong(String file, String what) {
      return new ConfigException(List.of(problem(file, what)));
    }

    private static Problem problem(String place, String what) {
      return Problem.of("DB-C080", place, what);
    }
  }
}
