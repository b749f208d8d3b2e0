package dev.doorbell.experiments.cli.serve;

import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.cli.command.Json;
import dev.doorbell.experiments.cli.serve.PageServer.Answer;
import dev.doorbell.experiments.plan.ExperimentRuntime;
import dev.doorbell.experiments.results.compare.ComparisonReport;
import dev.doorbell.experiments.results.compare.RunComparison;
import dev.doorbell.experiments.results.compare.RunComparison.Rules;
import dev.doorbell.experiments.results.figures.Figures;
import dev.doorbell.experiments.results.figures.Plots;
import dev.doorbell.experiments.results.figures.layout.Palette;
import dev.doorbell.experiments.results.report.HtmlReport;
import dev.doorbell.experiments.results.validation.Credit;
import dev.doorbell.experiments.run.Journal;
import dev.doorbell.experiments.run.Manifest;
import dev.doorbell.experiments.run.RunDirectory;
import dev.doorbell.experiments.run.RunException;
import dev.doorbell.experiments.run.RunFinder;
import dev.doorbell.experiments.run.RunIndex;
import dev.doorbell.experiments.run.StoredRun;
import dev.doorbell.experiments.run.SummaryFiles;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SequencedMap;
import java.util.function.Supplier;

final class RunPages {
  private final Path folder;
  private final Supplier<ExperimentRuntime> runtime;

  RunPages(Path folder, Supplier<ExperimentRuntime> runtime) {
    this.folder = folder;
    this.runtime = runtime;
  }

  Answer answer(String path, Map<String, String> query) {
    try {
      return switch (path) {
        case "/api/runs" -> Answer.json(Json.text(runs()));
        case "/api/run" -> Answer.json(Json.text(run(stored(query, "id"))));
        case "/api/compare" -> Answer.json(Json.text(compared(query)));
        case "/api/looks" -> Answer.json(Json.text(looks(query.getOrDefault("series", ""))));
        case "/report" ->
            new Answer(
                200,
                "text/html; charset=utf-8",
                new String(
                    HtmlReport.of(List.of(stored(query, "id")), List.of(), runtime),
                    StandardCharsets.UTF_8));
        default -> Answer.text(404, "there is no " + path + "\n");
      };
    } catch (RunException e) {
      return Answer.text(404, e.problem().text() + "\n");
    }
  }

  private List<Object> runs() {
    List<Object> runs = new ArrayList<>();
    for (RunFinder.Known run : new RunFinder(folder).known().reversed()) {
      Manifest manifest = run.manifest();
      boolean running = manifest.state() == Manifest.State.RUNNING;
      SequencedMap<String, Object> each = new LinkedHashMap<>();
      each.put("id", String.valueOf(run.path().getFileName()));
      each.put("experiment", manifest.experiment());
      each.put("state", manifest.state().name().toLowerCase(Locale.ROOT));
      each.put("basis", manifest.basis().word());
      each.put("started", manifest.started().toString());
      each.put("tags", manifest.tags());
      each.put("points", manifest.points());
      each.put("recorded", running ? recorded(run.path()) : manifest.recorded());
      runs.add(each);
    }
    return runs;
  }

  private static long recorded(Path run) {
    try {
      return Journal.parse(RunDirectory.bytes(run.resolve(RunDirectory.JOURNAL))).entries().size();
    } catch (IOException _) {
      return 0;
    }
  }

  private StoredRun stored(Map<String, String> query, String key) throws RunException {
    return StoredRun.read(path(query, key));
  }

  /** A run by its name alone: nothing outside of the folder can be named. */
  private Path path(Map<String, String> query, String key) throws RunException {
    String id = query.getOrDefault(key, "");
    return new RunFinder(folder)
        .known().stream()
            .map(RunFinder.Known::path)
            .filter(run -> String.valueOf(run.getFileName()).equals(id))
            .findFirst()
            .orElseThrow(
                () ->
                    RunException.unreadable(
                        Problem.of("DB-R006", id, "no run of that name in " + folder)));
  }

  private SequencedMap<String, Object> run(StoredRun stored) {
    SequencedMap<String, Object> tree = SummaryFiles.tree(stored.data());
    tree.put("id", stored.data().runId());
    tree.put(
        "axes",
        stored.data().axes().stream()
            .map(axis -> Map.of("name", axis.name(), "unit", axis.unit()))
            .toList());
    Figures.Asked asked = Credit.figures(stored, runtime).asked(List.of());
    tree.put("figures", asked.plots().whole().stream().map(RunPages::figure).toList());
    tree.put("missing", asked.missing().stream().map(Problem::what).toList());
    return tree;
  }

  private static Map<String, String> figure(Plots.Shown figure) {
    return Map.of("name", figure.name(), "caption", figure.caption(), "svg", figure.svg());
  }

  /** Colour and marker of each series, as figures have them; names are separated by bars. */
  private static List<Map<String, String>> looks(String series) {
    List<String> names = List.of(series.split("[|]", -1)).stream().distinct().toList();
    Palette palette = Palette.of(names);
    return names.stream()
        .map(palette::style)
        .map(
            style ->
                Map.of(
                    "colour",
                    style.paint().hex(),
                    "marker",
                    style.marker().name().toLowerCase(Locale.ROOT)))
        .toList();
  }

  private SequencedMap<String, Object> compared(Map<String, String> query) throws RunException {
    return new ComparisonReport(
            RunComparison.of(
                RunIndex.read(path(query, "a")), RunIndex.read(path(query, "b")), Rules.DEFAULT))
        .json();
  }
}
