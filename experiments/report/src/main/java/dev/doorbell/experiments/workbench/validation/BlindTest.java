package dev.doorbell.experiments.workbench.validation;

import dev.doorbell.core.Sha256;
import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.core.problem.EnvironmentException;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.workbench.validation.RowFile.CsvTable;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * Predictions of rows whose values have not been read: the rows run without them, the predictions
 * are written with a date and a hash, and are what values are compared with from then on.
 */
public final class BlindTest {
  private static final String PREDICTED = "# predicted ";
  private static final String HASH = "# sha256 ";
  private static final String COLUMNS = "id,topology,topology_sha256,unit,predicted,config";

  private BlindTest() {}

  /**
   * Runs rows whose values were not read.
   *
   * @param rows from {@link RowFile#loadBlind}
   * @param ended as in {@link Validation#check}
   * @return the text of a file of predictions
   */
  public static String predict(
      Validation validation,
      List<Row> rows,
      List<ModelMachine> machines,
      Instant now,
      Consumer<CheckedRow> ended)
      throws EnvironmentException, InterruptedException {
    StringBuilder lines = new StringBuilder(COLUMNS).append('\n');
    for (CheckedRow checked : validation.check(rows, machines, ended)) {
      String hash =
          machines.stream()
              .filter(machine -> machine.topology().equals(checked.topology()))
              .map(ModelMachine::hash)
              .findFirst()
              .orElse("");
      lines.append(
          "%s,%s,%s,%s,%s,\"%s\"\n"
              .formatted(
                  checked.row().id(),
                  checked.topology(),
                  hash,
                  checked.row().unit(),
                  checked.hasRun() ? Double.toString(checked.modelled()) : "",
                  checked.row().config().replace("\"", "\"\"")));
    }
    String head = PREDICTED + now.truncatedTo(ChronoUnit.SECONDS) + "\n";
    return head + HASH + Sha256.hex(head + lines) + "\n" + lines;
  }

  /**
   * Compares predictions with values.
   *
   * @param file what to call the predictions in problems
   * @param text what {@link #predict} returned
   * @param rows with their values
   * @throws ConfigException when the predictions are not what they were
   */
  public static List<CheckedRow> compare(
      String file, String text, List<Row> rows, List<ModelMachine> machines)
      throws ConfigException {
    int body = text.indexOf(COLUMNS);
    int hash = text.indexOf(HASH);
    if (hash < 0
        || body < hash
        || !text.startsWith(
            HASH + Sha256.hex(text.substring(0, hash) + text.substring(body)), hash)) {
      throw new ConfigException(
          List.of(
              Problem.of("DB-C080", file, "the predictions were changed after they were written")
                  .fix("remove the file, and predict again before anybody reads the values")));
    }
    List<CheckedRow> compared = new ArrayList<>();
    for (CsvTable.Line line :
        CsvTable.read(file, text, List.of(COLUMNS.split(",")), List.of()).lines()) {
      for (Row row : rows) {
        if (row.id().equals(line.text("id")) && !Double.isNaN(row.value())) {
          compared.add(
              machines.stream()
                  .filter(machine -> machine.topology().equals(line.text("topology")))
                  .filter(machine -> !line.text("predicted").isEmpty())
                  .map(m -> CheckedRow.run(row, m, Double.parseDouble(line.text("predicted"))))
                  .findFirst()
                  .orElseGet(
                      () -> CheckedRow.without(row, line.text("topology"), "nothing predicted")));
        }
      }
    }
    return compared;
  }

  /** Returns the date at which predictions were written. */
  public static String date(String text) {
    return text.substring(PREDICTED.length(), text.indexOf('\n'));
  }
}
