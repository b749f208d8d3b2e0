package dev.doorbell.experiments.results.paper;

import de.siegmar.fastcsv.reader.CsvReader;
import de.siegmar.fastcsv.reader.NamedCsvRecord;
import dev.doorbell.experiments.results.print.Names;
import dev.doorbell.experiments.results.print.Table;
import dev.doorbell.experiments.results.print.TableBuilder;
import dev.doorbell.experiments.results.print.Units;
import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Published measurements beside the model, from the {@code rows.csv} of {@code validate-model}. */
final class PublishedTable {
  private PublishedTable() {}

  /**
   * One row for each id.
   *
   * @param ids of the rows; empty for all
   * @throws IOException when the file cannot be read or has no such row
   */
  static Table of(Path file, List<String> ids) throws IOException {
    Map<String, NamedCsvRecord> rows = new LinkedHashMap<>();
    try (CsvReader<NamedCsvRecord> reader = CsvReader.builder().ofNamedCsvRecord(file)) {
      for (NamedCsvRecord row : reader) {
        rows.put(row.getField("id"), row);
      }
    }
    for (String id : ids) {
      if (!rows.containsKey(id)) {
        throw new IOException("%s has no row '%s'".formatted(file.getFileName(), id));
      }
    }
    return new TableBuilder<NamedCsvRecord>()
        .left("row", row -> row.getField("id"))
        .left("what", row -> row.getField("what"))
        .left("metric", row -> Units.heading(row.getField("metric"), row.getField("unit")))
        .right("measured", row -> digits(row.getField("measured")))
        .right("modelled", row -> digits(row.getField("modelled")))
        .right("error", PublishedTable::error)
        .left("fitted", row -> row.getField("fitted").equals("true") ? "fitted" : "")
        .table(
            ids.isEmpty() ? rows.values() : ids.stream().map(rows::get).toList(),
            List.of(
                "measured: published, docs/validation.md; fitted: a constant was chosen by it"));
  }

  private static String digits(String value) {
    return value.isEmpty() ? Names.NONE : Units.digits(Double.parseDouble(value), 3);
  }

  private static String error(NamedCsvRecord row) {
    String error = row.getField("error");
    return error.isEmpty() ? Names.NONE : PaperBuild.error(Double.parseDouble(error));
  }
}
