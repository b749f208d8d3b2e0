package dev.doorbell.experiments.results.validation;

import dev.doorbell.core.fabric.timed.machine.Topology.Constant.Origin;
import dev.doorbell.experiments.workbench.validation.CheckedRow;
import dev.doorbell.experiments.workbench.validation.ModelMachine;
import dev.doorbell.experiments.workbench.validation.ValidationResults;
import dev.doorbell.experiments.workbench.validation.ValidationResults.Machine;
import dev.doorbell.experiments.workbench.validation.ValidationResults.RowErrors;
import java.util.List;
import java.util.Map;
import java.util.StringJoiner;

/** What a topology rests on, and how far off it was when it was tested. */
public final class MachineStanding {
  private MachineStanding() {}

  /**
   * As comments of YAML, so that they may stand before the topology's text.
   *
   * @param stored results of former validations, which may be of an older version of the topology
   */
  public static String text(ModelMachine machine, ValidationResults stored) {
    StringBuilder text = new StringBuilder();
    text.append(
        "# %d constants: %s%n".formatted(machine.constants().size(), counts(machine.origins())));
    stored.machines().stream()
        .filter(each -> each.topology().equals(machine.topology()))
        .findFirst()
        .ifPresentOrElse(
            each -> text.append(tested(machine, each, stored)),
            () -> text.append("# tested on no published row\n"));
    return text.toString();
  }

  private static String counts(Map<Origin, Long> origins) {
    StringJoiner counts = new StringJoiner(", ");
    origins.forEach(
        (origin, count) ->
            counts.add(count + " " + (origin == Origin.FITTED ? "fitted" : origin.word())));
    return counts.toString();
  }

  private static String tested(ModelMachine now, Machine then, ValidationResults stored) {
    List<CheckedRow> rows = stored.rowsOf(then);
    RowErrors all = RowErrors.of(rows);
    if (all.rows() == 0) {
      return "# tested on no published row: none of %d can be run%n".formatted(rows.size());
    }
    RowErrors predicted = RowErrors.of(ValidationResults.predicted(rows));
    StringBuilder text = new StringBuilder();
    text.append(
        "# tested on %d published rows of %s: %s%n"
            .formatted(all.rows(), String.join(", ", then.rows()), errors(all)));
    text.append(
        predicted.rows() == 0
            ? "# all of them are rows that constants were fitted to\n"
            : "# of these, not fitted to: %d, %s%n".formatted(predicted.rows(), errors(predicted)));
    if (!then.leftOut().isEmpty()) {
      text.append("# left out of the fit: %s%n".formatted(then.leftOut()));
    }
    if (!now.hash().equals(then.hash())) {
      text.append(
          "# STALE: the topology has changed since; doorbell validate-model %s%n"
              .formatted(now.topology()));
    }
    return text.toString();
  }

  private static String errors(RowErrors errors) {
    return "median error %s, worst %s (%s), %s within 15 %%"
        .formatted(
            ValidationTables.percent(errors.median()),
            ValidationTables.percent(errors.worst()),
            errors.worstRow(),
            ValidationTables.percent(errors.within15()));
  }
}
