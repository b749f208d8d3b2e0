package dev.doorbell.experiments.results.paper;

import de.siegmar.fastcsv.reader.CsvReader;
import de.siegmar.fastcsv.reader.NamedCsvRecord;
import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.config.condition.PointCondition;
import dev.doorbell.experiments.config.formula.Formula;
import dev.doorbell.experiments.config.formula.Formula.FormulaException;
import dev.doorbell.experiments.config.schema.Schema;
import dev.doorbell.experiments.plan.ExperimentRuntime;
import dev.doorbell.experiments.results.figures.Plots.PlotFormat;
import dev.doorbell.experiments.results.figures.Unplottable;
import dev.doorbell.experiments.results.print.Names;
import dev.doorbell.experiments.results.print.Table;
import dev.doorbell.experiments.results.print.TableBuilder;
import dev.doorbell.experiments.results.print.Units;
import dev.doorbell.experiments.results.tables.RunSelection;
import dev.doorbell.experiments.results.tables.RunTables;
import dev.doorbell.experiments.results.validation.Credit;
import dev.doorbell.experiments.run.RunData;
import dev.doorbell.experiments.run.StoredRun;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * From a paper's folder and its runs to the files of {@code generated/}: the same bytes every time,
 * whenever and wherever the runs were made.
 */
public final class PaperBuild {
  private final Path folder;
  private final Paper paper;
  private final Map<String, StoredRun> runs;
  private final Map<String, Path> calibrations;
  private final ExperimentRuntime runtime;
  private final List<Problem> problems = new ArrayList<>();
  private final SequencedMap<String, byte[]> files = new LinkedHashMap<>();
  private final SequencedMap<String, String> numbers = new LinkedHashMap<>();

  private PaperBuild(
      Path folder,
      Paper paper,
      Map<String, StoredRun> runs,
      Map<String, Path> calibrations,
      ExperimentRuntime runtime) {
    this.folder = folder;
    this.paper = paper;
    this.runs = runs;
    this.calibrations = calibrations;
    this.runtime = runtime;
  }

  /**
   * Builds a paper.
   *
   * @param runs the paper's runs of experiments, by name
   * @param calibrations files that its calibrations wrote, by name
   * @return files by their paths below {@code generated/}
   * @throws ConfigException with everything that is wrong with the paper
   */
  public static SequencedMap<String, byte[]> of(
      Path folder,
      Paper paper,
      Map<String, StoredRun> runs,
      Map<String, Path> calibrations,
      ExperimentRuntime runtime)
      throws ConfigException {
    PaperBuild build = new PaperBuild(folder, paper, runs, calibrations, runtime);
    build.build();
    if (!build.problems.isEmpty()) {
      throw new ConfigException(build.problems);
    }
    return Collections.unmodifiableSequencedMap(build.files);
  }

  private void build() {
    paper.numbers().forEach(this::number);
    Map<String, String> figures = new LinkedHashMap<>();
    Map<String, String> captions = new LinkedHashMap<>();
    for (Map.Entry<String, Paper.Figure> entry : paper.figures().entrySet()) {
      figure(entry.getKey(), entry.getValue());
      figures.put(entry.getKey(), "figures/" + entry.getKey() + ".svg");
      captions.put(entry.getKey(), entry.getValue().caption());
    }
    Map<String, String> tables = new LinkedHashMap<>();
    for (Map.Entry<String, Paper.Table> entry : paper.tables().entrySet()) {
      Table table = table(entry.getKey(), entry.getValue());
      if (table != null) {
        put("tables/" + entry.getKey() + ".md", table.markdown());
        put("tables/" + entry.getKey() + ".tex", table.latex());
        tables.put(entry.getKey(), table.markdown());
      }
    }
    put("numbers.tex", macros());
    put("numbers.md", ledger().markdown());
    texts(new PaperText.Generated(numbers, figures, tables, captions));
  }

  private void number(String name, Paper.Quantity number) {
    try {
      double value = Formula.value(number.value(), names(number));
      numbers.put(name, shown(value, number));
    } catch (FormulaException e) {
      problem("number '%s': %s".formatted(name, e.why()));
    } catch (IOException e) {
      problem("number '%s': %s cannot be read".formatted(name, number.file()));
    }
  }

  private Formula.Lookup names(Paper.Quantity number) throws IOException, FormulaException {
    if (!number.file().isEmpty()) {
      return new MachineNames(folder.resolve(number.file()));
    }
    Path calibration = calibrations.get(number.run());
    if (calibration != null) {
      return new MachineNames(calibration);
    }
    StoredRun run = runs.get(number.run());
    return run == null
        ? new ModelNames()
        : new RunNames(run.data(), run.plan().points().size(), run.data().rows().size());
  }

  private static String shown(double value, Paper.Quantity number) {
    String digits =
        number.unit().equals("ns") || number.unit().equals("B")
            ? Units.quantity(value, number.unit())
            : Units.digits(value, number.digits())
                + (number.unit().isEmpty() ? "" : "\u00A0" + number.unit());
    return digits.replace('-', '−');
  }

  private void figure(String name, Paper.Figure figure) {
    StoredRun run = runs.get(figure.run());
    if (run == null) {
      problem("figure '%s' is of a calibration, which has no figures".formatted(name));
      return;
    }
    try {
      Credit.figures(run.data().anonymous(), run.plan().points(), () -> runtime)
          .one(figure.shown())
          .files(EnumSet.allOf(PlotFormat.class))
          .forEach((file, bytes) -> files.put("figures/" + file, bytes));
    } catch (Unplottable e) {
      problem("figure '%s': %s".formatted(name, e.problem().what()));
    }
  }

  private static List<PointCondition> conditions(String only) throws ConfigException {
    return only.isEmpty()
        ? List.of()
        : PointCondition.of(only, "only: " + only, Schema.experiment().settings().keySet());
  }

  private @Nullable Table table(String name, Paper.Table table) {
    try {
      return switch (table.show()) {
        case "numbers" -> ledger();
        case "prices" -> prices(table);
        case "residuals" -> residuals(table);
        case "published" -> published(folder.resolve(table.measured()), table.names());
        default -> ofRun(table);
      };
    } catch (IOException e) {
      problem("table '%s': %s".formatted(name, e.getMessage()));
    } catch (ConfigException e) {
      problem("table '%s': %s".formatted(name, e.problems().getFirst().what()));
    }
    return null;
  }

  private static RunData part(StoredRun run, Paper.Table table) throws ConfigException {
    return RunSelection.metrics(RunSelection.of(run, conditions(table.only())), table.metrics());
  }

  private Table ofRun(Paper.Table table) throws IOException, ConfigException {
    StoredRun run = runs.get(table.run());
    if (run == null) {
      throw new IOException("it is of a calibration; show: prices");
    }
    RunData data = part(run, table).anonymous();
    return switch (table.show()) {
      case "crossovers" -> RunTables.crossovers(data);
      case "counters" -> RunTables.counters(data);
      default -> RunTables.summary(data);
    };
  }

  /** Measured beside modelled, with what the model is off by. */
  private Table prices(Paper.Table table) throws IOException {
    Path modelledFile = calibrations.get(table.run());
    if (modelledFile == null) {
      throw new IOException("run '%s' does not calibrate".formatted(table.run()));
    }
    MachineNames measured = new MachineNames(folder.resolve(table.measured()));
    MachineNames modelled = new MachineNames(modelledFile);
    List<String> names =
        table.names().isEmpty() ? List.copyOf(measured.all().keySet()) : table.names();
    for (String name : names) {
      if (!measured.all().containsKey(name)) {
        throw new IOException("%s has no measurement '%s'".formatted(table.measured(), name));
      }
    }
    List<MachineNames.Measured> rows =
        measured.all().values().stream()
            .filter(each -> names.contains(each.name()))
            .sorted(Comparator.comparingInt(each -> names.indexOf(each.name())))
            .toList();
    Function<MachineNames.Measured, Optional<Double>> model =
        here -> Optional.ofNullable(modelled.all().get(here.name())).map(there -> there.median());
    return new TableBuilder<MachineNames.Measured>()
        .left("quantity", MachineNames.Measured::what)
        .left("unit", MachineNames.Measured::unit)
        .right("measured", here -> Units.digits(here.median(), 4))
        .right(
            "[95 % CI]",
            here ->
                "[%s, %s]".formatted(Units.digits(here.lower(), 4), Units.digits(here.upper(), 4)))
        .right(
            "modelled",
            here -> model.apply(here).map(value -> Units.digits(value, 4)).orElse(Names.NONE))
        .right(
            "error",
            here ->
                model.apply(here).map(value -> error(value / here.median() - 1)).orElse(Names.NONE))
        .table(
            rows,
            List.of(
                "measured: %s; modelled: the same kernels in virtual time"
                    .formatted(table.measured())));
  }

  private Table residuals(Paper.Table table) throws IOException, ConfigException {
    StoredRun modelled = runs.get(table.run());
    StoredRun measured = runs.get(table.measured());
    if (modelled == null || measured == null) {
      throw new IOException("it needs two runs with samples");
    }
    return ResidualTable.of(part(measured, table), part(modelled, table));
  }

  static String error(double ratio) {
    return (ratio < 0 ? "−" : "+") + Units.fixed(Math.abs(100 * ratio), 1) + " %";
  }

  private Table ledger() {
    return new TableBuilder<Map.Entry<String, Paper.Quantity>>()
        .left("number", Map.Entry::getKey)
        .left("value", each -> numbers.getOrDefault(each.getKey(), Names.NONE))
        .left("basis", each -> each.getValue().basis())
        .left("expression", each -> each.getValue().value())
        .left("from", each -> origin(each.getValue()))
        .table(paper.numbers().entrySet(), List.of());
  }

  private static String origin(Paper.Quantity number) {
    return !number.source().isEmpty()
        ? number.source()
        : number.run().isEmpty() ? "" : "run " + number.run();
  }

  private String macros() {
    StringBuilder tex = new StringBuilder("% numbers of the text: \\doorbell{NAME}\n");
    tex.append("\\providecommand{\\doorbell}[1]{\\csname doorbell@#1\\endcsname}\n");
    numbers.forEach(
        (name, value) ->
            tex.append("\\expandafter\\def\\csname doorbell@")
                .append(name)
                .append("\\endcsname{")
                .append(
                    value
                        .replace("\u00A0", "~")
                        .replace("%", "\\%")
                        .replace("µ", "$\\mu$")
                        .replace("−", "$-$"))
                .append("}\n"));
    return tex.toString();
  }

  private void texts(PaperText.Generated generated) {
    for (String file : paper.texts()) {
      String text;
      try {
        text = Files.readString(folder.resolve(file));
      } catch (IOException _) {
        problem("text '%s' cannot be read".formatted(file));
        continue;
      }
      PaperText source = new PaperText(folder.resolve(file).toString(), text, problems);
      if (file.endsWith(".md")) {
        put(String.valueOf(Path.of(file).getFileName()), source.markdown(generated));
      } else {
        source.checkLatex(numbers.keySet(), files.keySet());
      }
    }
  }

  private void put(String file, String text) {
    files.put(file, text.getBytes(StandardCharsets.UTF_8));
  }

  private void problem(String what) {
    problems.add(Problem.of("DB-C071", folder.resolve(Paper.FILE).toString(), what));
  }

  /**
   * One row for each id.
   *
   * @param ids of the rows; empty for all
   * @throws IOException when the file cannot be read or has no such row
   */
  static Table published(Path file, List<String> ids) throws IOException {
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
        .right("error", row -> error(row))
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
    return error.isEmpty() ? Names.NONE : error(Double.parseDouble(error));
  }

  /** The medians that calibrate wrote into a file, by their names. */
  static final class MachineNames extends ModelNames {
    private final Path file;
    private final SequencedMap<String, Measured> measured = new LinkedHashMap<>();

    /** One quantity with its interval. */
    record Measured(
        String name, String what, String unit, double median, double lower, double upper) {}

    MachineNames(Path file) throws IOException {
      this.file = file;
      try {
        JsonNode root = JsonMapper.builder().build().readTree(Files.readString(file));
        for (JsonNode each : root.path("measurements")) {
          String name = each.path("name").asString();
          measured.put(
              name,
              new Measured(
                  name,
                  each.path("what").asString(""),
                  each.path("unit").asString(""),
                  each.path("median").asDouble(),
                  each.path("ci95").path(0).asDouble(),
                  each.path("ci95").path(1).asDouble()));
        }
      } catch (JacksonException e) {
        throw new IOException("%s is no JSON: %s".formatted(file, e.getOriginalMessage()));
      }
    }

    SequencedMap<String, Measured> all() {
      return measured;
    }

    @Override
    public double select(String name, SequencedMap<String, String> settings)
        throws FormulaException {
      Measured found = measured.get(name);
      if (found == null || !settings.isEmpty()) {
        throw new FormulaException("%s has no measurement '%s'".formatted(file, name));
      }
      return found.median();
    }
  }
}
