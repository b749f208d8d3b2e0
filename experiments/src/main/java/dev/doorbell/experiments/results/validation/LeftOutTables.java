package dev.doorbell.experiments.results.validation;

import dev.doorbell.experiments.results.print.Csv;
import dev.doorbell.experiments.results.print.Screen;
import dev.doorbell.experiments.results.print.TableBuilder;
import dev.doorbell.experiments.workbench.validation.LeaveOneOut.Left;
import dev.doorbell.experiments.workbench.validation.LeaveOneOut.Result;
import dev.doorbell.experiments.workbench.validation.RowErrors;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** The tables of rows that were left out of the fit. */
public final class LeftOutTables {
  private LeftOutTables() {}

  /** One machine's for a terminal. */
  public static String text(Result result) {
    return "%s%n%sleft out of the fit: %s%n"
        .formatted(
            result.machine().topology(),
            new TableBuilder<Left>()
                .left("row", left -> left.fit().row().id())
                .right("in the fit", left -> Screen.percent(left.fit().error()))
                .right(
                    "left out",
                    left -> left.predicted() ? Screen.percent(left.checked().error()) : "-")
                .left("constants", left -> String.join(", ", left.constants()))
                .table(result.rows(), List.of())
                .text(),
            summary(result));
  }

  /** What a topology's {@code left_out} says of it. */
  public static String summary(Result result) {
    RowErrors errors = RowErrors.of(result.predicted());
    List<String> alone =
        result.rows().stream()
            .filter(left -> !left.predicted())
            .map(left -> left.fit().row().id())
            .toList();
    String told =
        errors.rows() == 0
            ? "none of the fitted rows"
            : "%d rows, one at a time: median error %s, worst %s (%s)"
                .formatted(
                    errors.rows(),
                    percent(errors.median()),
                    percent(errors.worst()),
                    errors.worstRow());
    String rest =
        alone.isEmpty()
            ? ""
            : "; %d rows alone determine their constants (%s)"
                .formatted(alone.size(), String.join(", ", alone));
    return "%s%s; %d parameters, %d rows run"
        .formatted(told, rest, result.parameters(), result.trials());
  }

  private static String percent(double share) {
    return String.format(Locale.ROOT, "%.1f %%", 100 * share);
  }

  /** All machines' as CSV; the error is empty where no other row determines the constants. */
  public static String csv(List<Result> results) {
    List<List<?>> lines = new ArrayList<>();
    lines.add(List.of("id", "topology", "constants", "measured", "fit", "left_out", "error"));
    for (Result result : results) {
      for (Left left : result.rows()) {
        lines.add(
            List.of(
                left.fit().row().id(),
                result.machine().topology(),
                String.join(" ", left.constants()),
                left.fit().row().value(),
                left.fit().modelled(),
                left.predicted() ? left.modelled() : "",
                left.predicted() ? left.checked().error() : ""));
      }
    }
    return Csv.text(lines);
  }
}
