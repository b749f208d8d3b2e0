package dev.doorbell.experiments.workbench.validation;

import dev.doorbell.core.fabric.timed.machine.Topology.Constant.Origin;
import dev.doorbell.experiments.config.schema.Schema;
import dev.doorbell.experiments.workbench.validation.ValidationResults.Machine;
import dev.doorbell.experiments.workbench.validation.ValidationResults.RowErrors;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SequencedMap;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;

/** Results as JSON, and those that come with the program. */
public final class StoredResults {
  public static final String FILE = "results.json";

  private static final JsonMapper MAPPER =
      JsonMapper.builder().enable(SerializationFeature.INDENT_OUTPUT).build();

  private StoredResults() {}

  /** The results that come with the program. */
  public static ValidationResults builtIn() {
    return read(RowFile.packaged(FILE));
  }

  /** Results as a tree for JSON. Errors and shares are relative, values in the row's unit. */
  public static Map<String, Object> tree(ValidationResults results) {
    List<Map<String, Object>> machines = new ArrayList<>();
    for (Machine machine : results.machines()) {
      List<CheckedRow> rows = results.rowsOf(machine);
      Map<String, Object> one = new LinkedHashMap<>();
      one.put("topology", machine.topology());
      one.put("stands_for", machine.rows());
      one.put("left_out", machine.leftOut());
      one.put("topology_hash", machine.hash());
      Map<String, Long> constants = new LinkedHashMap<>();
      machine.constants().forEach((origin, count) -> constants.put(origin.word(), count));
      one.put("constants", constants);
      one.put("all", errors(rows));
      one.put("fitted", errors(ValidationResults.fitted(rows)));
      one.put("predicted", errors(ValidationResults.predicted(rows)));
      machines.add(one);
    }
    Map<String, Object> tree = new LinkedHashMap<>();
    tree.put("basis", "modelled");
    tree.put("machines", machines);
    tree.put("rows", results.rows().stream().map(StoredResults::row).toList());
    return tree;
  }

  public static String text(ValidationResults results) {
    return MAPPER.writeValueAsString(tree(results)).replace(System.lineSeparator(), "\n") + "\n";
  }

  private static Map<String, Object> errors(List<CheckedRow> rows) {
    RowErrors errors = RowErrors.of(rows);
    Map<String, Object> one = new LinkedHashMap<>();
    one.put("rows", errors.rows());
    one.put("median_error", errors.median());
    one.put("worst_error", errors.worst());
    one.put("worst_row", errors.worstRow());
    one.put("within_10", errors.within10());
    one.put("within_15", errors.within15());
    return one;
  }

  private static Map<String, Object> row(CheckedRow checked) {
    Row row = checked.row();
    SequencedMap<String, Object> one = new LinkedHashMap<>();
    one.put("id", row.id());
    one.put("machine", row.machine());
    one.put("topology", checked.topology());
    one.put("what", row.what());
    one.put("setup", row.setup());
    one.put("metric", row.metric());
    one.put("unit", row.unit());
    one.put("measured", row.value());
    if (checked.hasRun()) {
      one.put("modelled", checked.modelled());
      one.put("error", checked.error());
      one.put("verdict", checked.verdict().text());
    }
    one.put("fitted", checked.fitted());
    one.put("bar", row.bar());
    one.put("config", row.config());
    one.put("state", checked.state().name().toLowerCase(Locale.ROOT));
    one.put("reason", checked.reason());
    return one;
  }

  /** Reads what {@link #text} wrote. */
  static ValidationResults read(String text) {
    JsonNode tree = MAPPER.readTree(text);
    List<Machine> machines = new ArrayList<>();
    for (JsonNode one : tree.get("machines")) {
      Map<Origin, Long> constants = new EnumMap<>(Origin.class);
      for (Origin origin : Origin.values()) {
        constants.put(origin, one.get("constants").get(origin.word()).longValue());
      }
      machines.add(
          new Machine(
              one.get("topology").asString(),
              Schema.strings(one.get("stands_for")),
              one.get("left_out").asString(),
              one.get("topology_hash").asString(),
              constants));
    }
    List<CheckedRow> rows = new ArrayList<>();
    for (JsonNode one : tree.get("rows")) {
      rows.add(
          new CheckedRow(
              new Row(
                  one.get("id").asString(),
                  one.get("machine").asString(),
                  one.get("what").asString(),
                  one.get("setup").asString(),
                  one.get("metric").asString(),
                  one.get("measured").doubleValue(),
                  one.get("unit").asString(),
                  one.get("config").asString(),
                  one.get("bar").doubleValue(),
                  FILE),
              one.get("topology").asString(),
              one.get("fitted").booleanValue(),
              one.path("modelled").doubleValue(Double.NaN),
              CheckedRow.State.valueOf(one.get("state").asString().toUpperCase(Locale.ROOT)),
              one.get("reason").asString()));
    }
    return new ValidationResults(machines, rows);
  }
}
