package dev.doorbell.experiments.workbench.validation;

import de.siegmar.fastcsv.reader.CommentStrategy;
import de.siegmar.fastcsv.reader.CsvParseException;
import de.siegmar.fastcsv.reader.CsvReader;
import de.siegmar.fastcsv.reader.NamedCsvRecord;
import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.core.problem.Nearest;
import dev.doorbell.core.problem.Problem;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;

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
      reader.forEach(each -> lines.add(new Line(file + ":" + each.getStartingLineNumber(), each)));
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
