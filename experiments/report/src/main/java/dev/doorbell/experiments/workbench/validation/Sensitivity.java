package dev.doorbell.experiments.workbench.validation;

import dev.doorbell.core.fabric.timed.machine.Topology.Constant;
import dev.doorbell.core.fabric.timed.machine.Topology.Constant.Origin;
import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.core.problem.EnvironmentException;
import dev.doorbell.experiments.topology.TopologyFile;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.function.Predicate;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/**
 * Measures the dependence of a machine's rows on its constants: it changes each constant by a
 * twentieth and runs the rows again. Constants with the same source are one parameter, a factor on
 * all.
 */
final class Sensitivity implements AutoCloseable {
  /** A parameter's change by which its effects are found. */
  private static final double STEP = 1.05;

  private final Validation validation;
  private final ModelMachine machine;
  private final String text;
  private final Path folder;
  private int trials;

  /** Constants with the same source, whose values keep their proportions. */
  record Parameter(String source, List<Constant> constants) {
    boolean names(CheckedRow row) {
      return ModelMachine.names(source, row.row().id());
    }

    List<String> keys() {
      return constants.stream().map(Constant::key).toList();
    }
  }

  Sensitivity(Validation validation, ModelMachine machine) {
    this.validation = validation;
    this.machine = machine;
    try {
      this.text = TopologyFile.text(machine.topology());
    } catch (ConfigException e) {
      throw new IllegalStateException("a topology that was read is broken: " + e.problems(), e);
    }
    try {
      this.folder = Files.createTempDirectory("doorbell-other-constants");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Constants that are not 0, and numbers in the file; those with the same source together. */
  List<Parameter> parameters(Predicate<Constant> which) {
    Map<String, List<Constant>> sources = new LinkedHashMap<>();
    for (Constant constant : machine.constants()) {
      if (constant.value() != 0 && which.test(constant) && value(text, constant).isPresent()) {
        sources.computeIfAbsent(constant.source(), _ -> new ArrayList<>()).add(constant);
      }
    }
    return sources.entrySet().stream()
        .map(each -> new Parameter(each.getKey(), each.getValue()))
        .toList();
  }

  /** Rows that were run so far. */
  int trials() {
    return trials;
  }

  /** Rows with the values of the file; those that cannot be run are not among them. */
  List<CheckedRow> run(List<Row> rows) throws EnvironmentException, InterruptedException {
    return run(rows, machine);
  }

  /** Rows with other values, by changes of logarithms; empty where one is a whole number. */
  Optional<List<CheckedRow>> run(List<Row> rows, Map<Parameter, Double> changes)
      throws EnvironmentException, InterruptedException {
    ModelMachine other;
    try {
      Path file = Files.createTempFile(folder, "other", ".yaml");
      Files.writeString(file, text(changes));
      other = ModelMachine.load(file.toString());
    } catch (ConfigException _) {
      return Optional.empty();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    List<CheckedRow> run = run(rows, other);
    return run.size() == rows.size() ? Optional.of(run) : Optional.empty();
  }

  private List<CheckedRow> run(List<Row> rows, ModelMachine other)
      throws EnvironmentException, InterruptedException {
    trials += rows.size();
    return validation.check(rows, List.of(other)).stream().filter(CheckedRow::hasRun).toList();
  }

  /** Relative change of each row for that of a parameter; all 0 for one that cannot change. */
  double[] effects(Parameter parameter, List<CheckedRow> usual)
      throws EnvironmentException, InterruptedException {
    double[] effect = new double[usual.size()];
    Optional<List<CheckedRow>> changed =
        run(usual.stream().map(CheckedRow::row).toList(), Map.of(parameter, Math.log(STEP)));
    for (int i = 0; i < effect.length && changed.isPresent(); i++) {
      effect[i] =
          Math.log(changed.get().get(i).modelled() / usual.get(i).modelled()) / Math.log(STEP);
    }
    return effect;
  }

  /** Effects of the parameters that were fitted to any of the rows. */
  SequencedMap<Parameter, double[]> fitted(List<CheckedRow> usual)
      throws EnvironmentException, InterruptedException {
    SequencedMap<Parameter, double[]> effects = new LinkedHashMap<>();
    for (Parameter each : parameters(constant -> constant.origin() == Origin.FITTED)) {
      if (usual.stream().anyMatch(each::names)) {
        effects.put(each, effects(each, usual));
      }
    }
    return effects;
  }

  /** The topology's text with other values, of four digits. */
  String text(Map<Parameter, Double> changes) {
    String changed = text;
    for (Map.Entry<Parameter, Double> change : changes.entrySet()) {
      for (Constant constant : change.getKey().constants()) {
        changed = with(changed, constant, constant.value() * Math.exp(change.getValue()));
      }
    }
    return changed;
  }

  private static String with(String text, Constant constant, double value) {
    return value(text, constant)
        .map(old -> text.substring(0, old.start(1)) + digits(value) + text.substring(old.end(1)))
        .orElse(text);
  }

  /** The place of a constant's value in a topology's text; flags and generations have none. */
  private static Optional<MatchResult> value(String text, Constant constant) {
    String key = constant.key().substring(constant.key().lastIndexOf('.') + 1);
    return Pattern.compile(
            "\\b%s: \\{value: ([0-9.eE+-]+), source: \"%s[: ]+%s\""
                .formatted(
                    Pattern.quote(key), constant.origin().word(), Pattern.quote(constant.source())))
        .matcher(text)
        .results()
        .filter(each -> Double.parseDouble(each.group(1)) == constant.value())
        .findFirst();
  }

  /** A value with four digits. */
  static String digits(double value) {
    return String.format(Locale.ROOT, "%.4g", value)
        .replaceFirst("(\\.\\d*?)0+$", "$1")
        .replaceFirst("\\.$", "");
  }

  @Override
  public void close() {
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
