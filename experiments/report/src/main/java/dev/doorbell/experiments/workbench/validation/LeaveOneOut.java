package dev.doorbell.experiments.workbench.validation;

import dev.doorbell.core.fabric.timed.machine.Topology.Constant;
import dev.doorbell.core.fabric.timed.machine.Topology.Constant.Origin;
import dev.doorbell.core.problem.EnvironmentException;
import dev.doorbell.experiments.topology.TopologyException;
import dev.doorbell.experiments.topology.TopologyFile;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What the model of a machine says of each row that it was fitted to, when the constants that name
 * the row are fitted again to all its other rows.
 *
 * <p>Constants with the same source are one parameter, a factor on all of them. The fit is a
 * Gauss-Newton step in logarithms from the values of the file, by the effect of each parameter on
 * each row; then the row that was left out runs with the new values. A parameter that no other row
 * depends on cannot be fitted without the row: nothing is predicted then, and the row says so.
 */
public final class LeaveOneOut {
  /** A parameter's change by which its effects are found. */
  private static final double STEP = 1.05;

  /** The least change of a row, relative to that of a parameter, that determines the parameter. */
  private static final double DEPENDS = 0.03;

  /** Keeps a step small where rows say nothing about it. */
  private static final double RIDGE = 1e-4;

  private final Validation validation;

  public LeaveOneOut(Validation validation) {
    this.validation = validation;
  }

  /**
   * A row and what is said of it without it.
   *
   * @param fit the row with the constants of the file
   * @param constants that name it
   * @param modelled without it, in its unit; NaN where nothing else determines the constants
   */
  public record Left(CheckedRow fit, List<String> constants, double modelled) {
    /** Whether other rows determine the constants. */
    public boolean predicted() {
      return !Double.isNaN(modelled);
    }

    /** The row with the value without it. */
    public CheckedRow checked() {
      return new CheckedRow(
          fit.row(), fit.topology(), true, modelled, CheckedRow.State.RUN, fit.reason());
    }
  }

  /**
   * The result for one machine.
   *
   * @param parameters that name one of its rows
   * @param trials rows that were run for it
   */
  public record Result(ModelMachine machine, List<Left> rows, int parameters, int trials) {
    public Result {
      rows = List.copyOf(rows);
    }

    /** Those that other rows predict. */
    public List<CheckedRow> predicted() {
      return rows.stream().filter(Left::predicted).map(Left::checked).toList();
    }
  }

  /** Constants with the same source, whose values keep their proportions. */
  private record Parameter(String source, List<Constant> constants) {
    boolean names(CheckedRow row) {
      return ModelMachine.names(source, row.row().id());
    }

    List<String> keys() {
      return constants.stream().map(Constant::key).toList();
    }
  }

  /**
   * Leaves out each fitted row of a machine in turn.
   *
   * @param rows of any machines
   * @throws InterruptedException when the user ends it
   */
  public Result of(ModelMachine machine, List<Row> rows)
      throws EnvironmentException, InterruptedException {
    List<Row> own = rows.stream().filter(row -> machine.rows().contains(row.machine())).toList();
    Path folder = temporary();
    try {
      return of(machine, own, folder);
    } catch (TopologyException e) {
      throw new IllegalStateException("a topology with other values is broken: " + e.problems(), e);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } finally {
      delete(folder);
    }
  }

  private Result of(ModelMachine machine, List<Row> rows, Path folder)
      throws EnvironmentException, InterruptedException, TopologyException, IOException {
    List<CheckedRow> usual = run(rows, machine);
    List<Parameter> parameters = new ArrayList<>();
    for (Parameter each : parameters(machine)) {
      if (usual.stream().anyMatch(each::names)) {
        parameters.add(each);
      }
    }
    List<Row> runnable = usual.stream().map(CheckedRow::row).toList();
    List<double[]> effects = new ArrayList<>();
    String text = TopologyFile.text(machine.topology());
    int trials = rows.size();
    for (Parameter each : parameters) {
      double[] effect = new double[usual.size()];
      Optional<ModelMachine> other = with(text, folder, Map.of(each, Math.log(STEP)));
      if (other.isPresent()) {
        List<CheckedRow> changed = run(runnable, other.get());
        trials += changed.size();
        for (int i = 0; i < effect.length; i++) {
          effect[i] =
              Math.log(changed.get(i).modelled() / usual.get(i).modelled()) / Math.log(STEP);
        }
      }
      effects.add(effect);
    }
    List<Left> left = new ArrayList<>();
    for (int out = 0; out < usual.size(); out++) {
      CheckedRow row = usual.get(out);
      List<Integer> named = new ArrayList<>();
      List<String> keys = new ArrayList<>();
      boolean determined = true;
      for (int p = 0; p < parameters.size(); p++) {
        if (parameters.get(p).names(row)) {
          named.add(p);
          keys.addAll(parameters.get(p).keys());
          determined &= dependsElsewhere(effects.get(p), out) || !depends(effects.get(p)[out]);
        }
      }
      if (named.isEmpty()) {
        continue;
      }
      double modelled = Double.NaN;
      if (determined) {
        double[] steps = fit(usual, effects, named, out);
        Map<Parameter, Double> changes = new LinkedHashMap<>();
        for (int i = 0; i < steps.length; i++) {
          changes.put(parameters.get(named.get(i)), steps[i]);
        }
        Optional<ModelMachine> other = with(text, folder, changes);
        if (other.isPresent()) {
          modelled = run(List.of(row.row()), other.get()).getFirst().modelled();
          trials++;
        }
      }
      left.add(new Left(row, keys, modelled));
    }
    return new Result(machine, left, parameters.size(), trials);
  }

  private static boolean depends(double effect) {
    return Math.abs(effect) >= DEPENDS;
  }

  private static boolean dependsElsewhere(double[] effect, int out) {
    for (int i = 0; i < effect.length; i++) {
      if (i != out && depends(effect[i])) {
        return true;
      }
    }
    return false;
  }

  private List<CheckedRow> run(List<Row> rows, ModelMachine machine)
      throws EnvironmentException, InterruptedException {
    return validation.check(rows, List.of(machine)).stream().filter(CheckedRow::hasRun).toList();
  }

  /** The fitted constants, those with the same source together. */
  private static List<Parameter> parameters(ModelMachine machine) {
    Map<String, List<Constant>> sources = new LinkedHashMap<>();
    for (Constant constant : machine.constants()) {
      if (constant.origin() == Origin.FITTED && constant.value() != 0) {
        sources.computeIfAbsent(constant.source(), _ -> new ArrayList<>()).add(constant);
      }
    }
    List<Parameter> parameters = new ArrayList<>();
    sources.forEach((source, constants) -> parameters.add(new Parameter(source, constants)));
    return parameters;
  }

  /** Changes of the logarithms of some parameters that bring all rows but one nearest. */
  private static double[] fit(
      List<CheckedRow> rows, List<double[]> effects, List<Integer> named, int out) {
    int n = named.size();
    double[][] normal = new double[n][n];
    double[] right = new double[n];
    for (int i = 0; i < rows.size(); i++) {
      if (i == out) {
        continue;
      }
      double missing = Math.log(rows.get(i).row().value() / rows.get(i).modelled());
      for (int a = 0; a < n; a++) {
        double effect = effects.get(named.get(a))[i];
        right[a] += effect * missing;
        for (int b = 0; b < n; b++) {
          normal[a][b] += effect * effects.get(named.get(b))[i];
        }
      }
    }
    for (int a = 0; a < n; a++) {
      normal[a][a] += RIDGE;
    }
    return solve(normal, right);
  }

  /** Gauss's elimination of a positive definite system, in place. */
  private static double[] solve(double[][] matrix, double[] right) {
    int n = right.length;
    for (int p = 0; p < n; p++) {
      for (int r = p + 1; r < n; r++) {
        double factor = matrix[r][p] / matrix[p][p];
        for (int c = p; c < n; c++) {
          matrix[r][c] -= factor * matrix[p][c];
        }
        right[r] -= factor * right[p];
      }
    }
    double[] solution = new double[n];
    for (int p = n - 1; p >= 0; p--) {
      double rest = right[p];
      for (int c = p + 1; c < n; c++) {
        rest -= matrix[p][c] * solution[c];
      }
      solution[p] = rest / matrix[p][p];
    }
    return solution;
  }

  /** The machine with other values, in a file; empty where a constant is a whole number. */
  private static Optional<ModelMachine> with(
      String text, Path folder, Map<Parameter, Double> changes) throws IOException {
    String changed = text;
    for (Map.Entry<Parameter, Double> change : changes.entrySet()) {
      for (Constant constant : change.getKey().constants()) {
        changed = with(changed, constant, constant.value() * Math.exp(change.getValue()));
      }
    }
    Path file = Files.createTempFile(folder, "left-out", ".yaml");
    Files.writeString(file, changed);
    try {
      return Optional.of(ModelMachine.load(file.toString()));
    } catch (TopologyException _) {
      return Optional.empty();
    }
  }

  private static String with(String text, Constant constant, double value) {
    String key = constant.key().substring(constant.key().lastIndexOf('.') + 1);
    Pattern pattern =
        Pattern.compile(
            "\\b%s: \\{value: ([0-9.eE+-]+), source: \"fitted to %s\""
                .formatted(Pattern.quote(key), Pattern.quote(constant.source())));
    Matcher matcher = pattern.matcher(text);
    while (matcher.find()) {
      if (Double.parseDouble(matcher.group(1)) == constant.value()) {
        return text.substring(0, matcher.start(1)) + value + text.substring(matcher.end(1));
      }
    }
    throw new IllegalStateException("%s is not in the topology's text".formatted(constant.key()));
  }

  private static Path temporary() {
    try {
      return Files.createTempDirectory("doorbell-left-out");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void delete(Path folder) {
    try (var files = Files.newDirectoryStream(folder)) {
      for (Path file : files) {
        Files.delete(file);
      }
      Files.delete(folder);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
