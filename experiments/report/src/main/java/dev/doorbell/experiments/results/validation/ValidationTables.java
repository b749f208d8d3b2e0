package dev.doorbell.experiments.results.validation;

import dev.doorbell.experiments.results.print.Csv;
import dev.doorbell.experiments.results.print.Screen;
import dev.doorbell.experiments.results.print.Table;
import dev.doorbell.experiments.results.print.TableBuilder;
import dev.doorbell.experiments.workbench.validation.CheckedRow;
import dev.doorbell.experiments.workbench.validation.ConstantFit;
import dev.doorbell.experiments.workbench.validation.Independence;
import dev.doorbell.experiments.workbench.validation.LeaveOneOut.Left;
import dev.doorbell.experiments.workbench.validation.LeaveOneOut.Result;
import dev.doorbell.experiments.workbench.validation.ValidationResults;
import dev.doorbell.experiments.workbench.validation.ValidationResults.Machine;
import dev.doorbell.experiments.workbench.validation.ValidationResults.RowErrors;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** The tables of a validation. */
public final class ValidationTables {
  static final String BASIS =
      "MODELLED in virtual time, beside what others measured; error is (modelled - measured) /"
          + " measured";

  private ValidationTables() {}

  public static String text(ValidationResults results) {
    StringBuilder text = new StringBuilder();
    for (Machine machine : results.machines()) {
      text.append("%s stands for %s%n".formatted(machine.topology(), names(machine)));
      if (!machine.leftOut().isEmpty()) {
        text.append("left out of the fit: %s%n".formatted(machine.leftOut()));
      }
      text.append(rows(results.rowsOf(machine)).text()).append('\n');
    }
    if (!results.withoutResult().isEmpty()) {
      text.append("rows without a result\n");
      text.append(withoutResult(results).text()).append('\n');
    }
    text.append(machines(results).text());
    return text.append(BASIS).append('\n').toString();
  }

  private static String names(Machine machine) {
    return String.join(", ", machine.rows());
  }

  /** Those that have run, measured and modelled. */
  static Table rows(List<CheckedRow> rows) {
    return new TableBuilder<CheckedRow>()
        .left("row", checked -> checked.row().id())
        .left("what", ValidationTables::what)
        .right("measured", checked -> Screen.digits(checked.row().value()))
        .right("modelled", checked -> Screen.digits(checked.modelled()))
        .left("unit", checked -> checked.row().unit())
        .right("error", checked -> Screen.percent(checked.error()))
        .left("verdict", ValidationTables::verdict)
        .left("", ValidationTables::kind)
        .table(rows.stream().filter(CheckedRow::hasRun).toList(), List.of());
  }

  private static String kind(CheckedRow checked) {
    return checked.fitted() ? "fitted" : checked.follows() ? "follows" : "";
  }

  /** A row that has run, for a terminal that waits for the others. */
  public static String line(CheckedRow checked) {
    String modelled =
        "%s  %s %s"
            .formatted(checked.row().id(), Screen.digits(checked.modelled()), checked.row().unit());
    return Double.isNaN(checked.row().value())
        ? modelled
        : "%s, measured %s, %s %s"
            .formatted(
                modelled,
                Screen.digits(checked.row().value()),
                Screen.percent(checked.error()),
                kind(checked))
            .strip();
  }

  /** A fit: its constants, and its rows before and after it. */
  public static String text(ConstantFit.Result fit) {
    StringBuilder text = new StringBuilder();
    fit.changes().forEach((key, factor) -> text.append("%-40s x %.3f%n".formatted(key, factor)));
    for (int i = 0; i < fit.after().size(); i++) {
      CheckedRow after = fit.after().get(i);
      text.append(
          "%-40s %s, was %s%n"
              .formatted(
                  after.row().id(),
                  Screen.percent(after.error()),
                  Screen.percent(fit.before().get(i).error())));
    }
    return text.toString();
  }

  /** The rows of one machine that test something of their own, and those that do not. */
  public static String text(Independence.Result result) {
    RowErrors errors = RowErrors.of(result.independent());
    return """
    %s: rank %d of %d rows by %d parameters
      independent, %d: median error %s, %s within 15 %%, worst %s: %s
      follow, %d: %s
    """
        .formatted(
            result.machine().topology(),
            result.rank(),
            result.rows(),
            result.parameters(),
            errors.rows(),
            percent(errors.median()),
            percent(errors.within15()),
            percent(errors.worst()),
            ids(result.independent()),
            result.follow().size(),
            ids(result.follow()));
  }

  private static String ids(List<CheckedRow> rows) {
    return String.join(", ", rows.stream().map(row -> row.row().id()).toList());
  }

  private static String what(CheckedRow checked) {
    return "%s, %s".formatted(checked.row().what(), checked.row().metric());
  }

  /** The verdict, and whether the row's own bar says otherwise. */
  private static String verdict(CheckedRow checked) {
    String text = checked.verdict().text();
    boolean odd = checked.isOutside() != (checked.verdict() == CheckedRow.Verdict.OUTSIDE);
    String bar = String.format(Locale.ROOT, "%.0f %%", 100 * checked.row().bar());
    return odd
        ? "%s, bar %s: %s".formatted(text, bar, checked.isOutside() ? "NOT MET" : "met")
        : text;
  }

  /** Rows that gave nothing, and why. */
  static Table withoutResult(ValidationResults results) {
    return new TableBuilder<CheckedRow>()
        .left("row", checked -> checked.row().id())
        .left("machine", checked -> checked.row().machine())
        .left("what", ValidationTables::what)
        .left("why", CheckedRow::reason)
        .table(results.withoutResult(), List.of());
  }

  private record Group(String machine, String rows, RowErrors errors) {}

  /** Each machine with its errors: all rows, those that it was fitted to, and the others. */
  static Table machines(ValidationResults results) {
    List<Group> groups = new ArrayList<>();
    for (Machine machine : results.machines()) {
      add(groups, machine.topology(), results.rowsOf(machine));
    }
    if (results.machines().size() > 1) {
      add(groups, "all machines", results.rows());
    }
    return new TableBuilder<Group>()
        .left("machine", Group::machine)
        .left("rows", Group::rows)
        .right("n", group -> Integer.toString(group.errors.rows()))
        .right("median error", group -> percent(group.errors.median()))
        .right("worst", group -> percent(group.errors.worst()))
        .left("worst row", group -> group.errors.worstRow())
        .right("within 10 %", group -> percent(group.errors.within10()))
        .right("within 15 %", group -> percent(group.errors.within15()))
        .table(groups, List.of());
  }

  /** A line for each machine: its rows, those that it predicts, and their errors. */
  static Table standings(ValidationResults results) {
    return new TableBuilder<Machine>()
        .left("machine", machine -> "`" + machine.topology() + "`")
        .right("rows", machine -> count(results.rowsOf(machine)))
        .right("predicted", machine -> count(ValidationResults.predicted(results.rowsOf(machine))))
        .right("median error", machine -> percent(errors(results, machine).median()))
        .right("worst", machine -> percent(errors(results, machine).worst()))
        .left("worst row", machine -> errors(results, machine).worstRow())
        .table(results.machines(), List.of());
  }

  private static String count(List<CheckedRow> rows) {
    return Integer.toString(RowErrors.of(rows).rows());
  }

  private static RowErrors errors(ValidationResults results, Machine machine) {
    return RowErrors.of(results.rowsOf(machine));
  }

  private static void add(List<Group> groups, String machine, List<CheckedRow> rows) {
    add(groups, machine, "all", rows);
    add(groups, machine, "fitted", ValidationResults.fitted(rows));
    add(groups, machine, "predicted", ValidationResults.predicted(rows));
    add(groups, machine, "follow", ValidationResults.following(rows));
  }

  private static void add(List<Group> groups, String machine, String kind, List<CheckedRow> rows) {
    RowErrors errors = RowErrors.of(rows);
    if (errors.rows() > 0) {
      groups.add(new Group(machine, kind, errors));
    }
  }

  /** An absolute error or a share. */
  static String percent(double ratio) {
    return String.format(Locale.ROOT, ratio < 0.1 ? "%.1f %%" : "%.0f %%", 100 * ratio);
  }

  /** Every row on a line of its own, with all digits, for programs. */
  public static String csv(ValidationResults results) {
    List<List<Object>> lines = new ArrayList<>();
    lines.add(
        List.of(
            "id",
            "machine",
            "topology",
            "what",
            "setup",
            "metric",
            "unit",
            "measured",
            "modelled",
            "error",
            "verdict",
            "fitted",
            "config",
            "reason"));
    for (CheckedRow checked : results.rows()) {
      boolean run = checked.hasRun();
      lines.add(
          List.of(
              checked.row().id(),
              checked.row().machine(),
              checked.topology(),
              checked.row().what(),
              checked.row().setup(),
              checked.row().metric(),
              checked.row().unit(),
              checked.row().value(),
              run ? checked.modelled() : "",
              run ? checked.error() : "",
              run ? checked.verdict().text() : "",
              checked.fitted(),
              checked.row().config(),
              checked.reason()));
    }
    return Csv.text(lines);
  }

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
                    tenths(errors.median()),
                    tenths(errors.worst()),
                    errors.worstRow());
    String rest =
        alone.isEmpty()
            ? ""
            : "; %d rows alone determine their constants (%s)"
                .formatted(alone.size(), String.join(", ", alone));
    return "%s%s; %d parameters, %d rows run"
        .formatted(told, rest, result.parameters(), result.trials());
  }

  private static String tenths(double share) {
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
