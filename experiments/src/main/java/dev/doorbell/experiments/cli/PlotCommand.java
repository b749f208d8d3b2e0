package dev.doorbell.experiments.cli;

import dev.doorbell.experiments.config.Condition;
import dev.doorbell.experiments.config.ConfigException;
import dev.doorbell.experiments.config.Problem;
import dev.doorbell.experiments.config.Schema;
import dev.doorbell.experiments.figures.PlotFormat;
import dev.doorbell.experiments.figures.PlotKind;
import dev.doorbell.experiments.figures.PlotSpec;
import dev.doorbell.experiments.figures.Plots;
import dev.doorbell.experiments.figures.RunSelection;
import dev.doorbell.experiments.figures.Unplottable;
import dev.doorbell.experiments.formats.ChromeTrace;
import dev.doorbell.experiments.plan.ExperimentRuntime;
import dev.doorbell.experiments.plan.Influence;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.plan.PointFailure;
import dev.doorbell.experiments.plan.Prediction;
import dev.doorbell.experiments.plan.Timeline;
import dev.doorbell.experiments.run.RunDirectory;
import dev.doorbell.experiments.run.RunException;
import dev.doorbell.experiments.run.RunFiles;
import dev.doorbell.experiments.run.StoredRun;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code doorbell plot RUN...}. */
@CommandLine.Command(
    header = {
      "Draws figures of runs, from their samples alone: the same bytes every time. See docs/plots.md.",
      "",
      "  doorbell plot RUN                                           what the config asks for",
      "  doorbell plot RUN --kind line -x size -y goodput --series path --only placement=cross-rc",
      "  doorbell plot RUN --kind heatmap -x size --rows placement   who is ahead where",
      "  doorbell plot RUN --kind cdf --only size=4K                 from the raw samples",
      "  doorbell plot RUN --kind tornado --only path=pull,size=4K   what matters to the prediction",
      "  doorbell plot RUN --kind timeline --only path=pull,size=4K  one message, step by step",
      "  doorbell plot RUN --as pdf,pgfplots --out paper/figures",
      ""
    })
final class PlotCommand extends Command {
  private static final double SHARE = 0.2;

  @Mixin private RunPlace place = new RunPlace();

  @Parameters(paramLabel = "RUN", arity = "1..*", description = "Runs: directories, names or tags.")
  private List<String> runs = new ArrayList<>();

  @Option(
      names = "--kind",
      paramLabel = "KIND",
      description = {
        "line, cdf, bar, heatmap, timeline or tornado",
        "(default: the lines that the config asks for)."
      })
  private PlotKind kind = PlotKind.LINE;

  @Option(names = "-x", paramLabel = "AXIS", description = "What lies on the abscissa.")
  private String x = "";

  @Option(names = "-y", paramLabel = "METRIC", description = "What is shown, such as latency.")
  private String metric = "";

  @Option(
      names = "--series",
      paramLabel = "AXIS",
      description = "One line, bar or colour for each of its values.")
  private String series = "";

  @Option(
      names = {"--rows", "--facet"},
      paramLabel = "AXIS",
      description = "One panel for each of its values; in a heat map, the ordinate.")
  private String rows = "";

  @Option(
      names = "--only",
      paramLabel = "CONDITIONS",
      description = "A part of the run, such as 'size<=4K,path=pull|push.bf'.")
  private @Nullable String only;

  @Option(
      names = "--as",
      split = ",",
      paramLabel = "TYPE",
      description = "svg, pdf, png, pgfplots (default: svg,pdf).")
  private Set<PlotFormat> types = EnumSet.noneOf(PlotFormat.class);

  @Option(
      names = "--share",
      paramLabel = "PERCENT",
      description = "How far a tornado moves a constant without an interval (default: 20).")
  private double percent = 100 * SHARE;

  @Option(
      names = "--out",
      paramLabel = "DIR",
      description = "Folder for the figures (default: figures in the run directory).")
  private @Nullable Path out;

  @Override
  public ExitCode run(Context context)
      throws RunException, ConfigException, PointFailure, UsageException {
    Map<String, List<String>> written = new LinkedHashMap<>();
    for (String run : runs) {
      Path directory = place.find(run);
      StoredRun stored = StoredRun.read(directory);
      Path folder = out == null ? directory.resolve(RunDirectory.FIGURES) : out;
      List<String> files =
          RunFiles.writeAll(context.disk(), folder, files(context, stored)).stream()
              .map(file -> folder.resolve(file).toString())
              .toList();
      written.put(run, files);
      if (!common().json()) {
        files.forEach(context.terminal().out()::println);
      }
    }
    if (common().json()) {
      Json.print(context, written);
    }
    return ExitCode.OK;
  }

  private SequencedMap<String, byte[]> files(Context context, StoredRun stored)
      throws RunException, ConfigException, PointFailure, UsageException {
    Set<PlotFormat> formats = types.isEmpty() ? PlotFormat.standard() : types;
    List<Condition> conditions = conditions(only);
    try {
      return switch (kind) {
        case TORNADO -> tornado(context, stored, point(stored, conditions)).files(formats);
        case TIMELINE -> timeline(context, stored, point(stored, conditions), formats);
        default ->
            Plots.of(
                    RunSelection.of(stored, conditions),
                    new PlotSpec(kind, "", x, metric, series, rows))
                .files(formats);
      };
    } catch (Unplottable e) {
      throw RunException.unreadable(e.problem());
    }
  }

  /** Reads {@code --only}. */
  static List<Condition> conditions(@Nullable String only) throws ConfigException {
    if (only == null) {
      return List.of();
    }
    List<Problem> problems = new ArrayList<>();
    List<Condition> conditions =
        Condition.parse(only, "--only " + only, Schema.experiment().settings().keySet(), problems);
    if (!problems.isEmpty()) {
      throw new ConfigException(problems);
    }
    return conditions;
  }

  /** One point is shown: the first for which the conditions hold. */
  static Point point(StoredRun stored, List<Condition> conditions) throws Unplottable {
    return stored.plan().points().stream()
        .filter(point -> conditions.stream().allMatch(c -> c.holds(point.settings())))
        .findFirst()
        .orElseThrow(
            () ->
                Unplottable.because(
                    stored.data().runId(),
                    "no point fulfils --only",
                    "doorbell table RUN shows what there is"));
  }

  private Plots tornado(Context context, StoredRun stored, Point point) throws Unplottable {
    String shown = metric.isEmpty() ? "latency" : metric;
    return tornado(context.runtime().get(), stored, point, shown, percent / 100);
  }

  /** What the constants do to the prediction of a point. */
  static Plots tornado(
      ExperimentRuntime runtime, StoredRun stored, Point point, String metric, double share)
      throws Unplottable {
    Prediction.Term base = runtime.predict(point).of(metric).orElse(null);
    List<Influence> influences = runtime.sensitivity(point, metric, share);
    if (base == null || influences.isEmpty()) {
      throw Unplottable.because(
          stored.data().runId(),
          "the model has no word for %s of %s".formatted(metric, point.id()),
          "doorbell predict says what it speaks of");
    }
    return Plots.tornado(stored.data(), point.id(), metric, base.value(), base.unit(), influences);
  }

  /** The figure, the same for Perfetto, and the packets. */
  private SequencedMap<String, byte[]> timeline(
      Context context, StoredRun stored, Point point, Set<PlotFormat> formats)
      throws PointFailure, UsageException {
    try {
      Path capture = Files.createTempFile("doorbell", ".pcapng");
      try {
        Timeline timeline = context.runtime().get().timeline(point, capture);
        SequencedMap<String, byte[]> files =
            new LinkedHashMap<>(Plots.timeline(stored.data(), point.id(), timeline).files(formats));
        String name = files.firstEntry().getKey().replaceAll("\\.[a-z]+$", "");
        files.put(
            name + ".perfetto.json",
            ChromeTrace.of(timeline, "modelled").getBytes(StandardCharsets.UTF_8));
        files.put(name + ".pcapng", Files.readAllBytes(capture));
        return files;
      } finally {
        Files.deleteIfExists(capture);
      }
    } catch (IOException e) {
      throw new UsageException(
          Problem.of("DB-U004", null, "the packets cannot be kept: " + e.getMessage())
              .fix("set TMPDIR to a folder with room"));
    }
  }
}
