package dev.doorbell.experiments.cli.results;

import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.cli.command.CliCommand;
import dev.doorbell.experiments.cli.command.CommandContext;
import dev.doorbell.experiments.cli.command.ExitCode;
import dev.doorbell.experiments.cli.command.Json;
import dev.doorbell.experiments.cli.command.UsageException;
import dev.doorbell.experiments.cli.plan.UserKernels;
import dev.doorbell.experiments.config.condition.PointCondition;
import dev.doorbell.experiments.config.figure.FigureKind;
import dev.doorbell.experiments.config.figure.FigureReader;
import dev.doorbell.experiments.config.figure.FigureSpec;
import dev.doorbell.experiments.config.schema.Schema;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.plan.Timeline;
import dev.doorbell.experiments.results.figures.Figures;
import dev.doorbell.experiments.results.figures.PlotFormat;
import dev.doorbell.experiments.results.figures.Plots;
import dev.doorbell.experiments.results.figures.Unplottable;
import dev.doorbell.experiments.run.RunDirectory;
import dev.doorbell.experiments.run.RunException;
import dev.doorbell.experiments.run.RunFiles;
import dev.doorbell.experiments.run.StoredRun;
import java.io.IOException;
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
      "Draws figures of runs, from their samples alone: the same bytes every time. See"
          + " docs/plots.md.",
      "",
      "  doorbell plot RUN                                           what the config asks for",
      "  doorbell plot RUN --kind line -x size -y goodput --series path --only placement=cross-rc",
      "  doorbell plot RUN --kind heatmap -x size --rows placement   who is ahead where",
      "  doorbell plot RUN --kind cdf --only size=4K                 from the raw samples",
      "  doorbell plot RUN --kind tornado --only path=pull,size=4K   what matters to the"
          + " prediction",
      "  doorbell plot RUN --kind timeline --only path=pull,size=4K  one message, step by step",
      "  doorbell plot RUN --as pdf,pgfplots --out paper/figures",
      ""
    })
public final class PlotCommand extends CliCommand {
  @Mixin private RunPlace place = new RunPlace();

  @Parameters(paramLabel = "RUN", arity = "1..*", description = "Runs: directories, names or tags.")
  private List<String> runs = new ArrayList<>();

  @Option(
      names = "--kind",
      paramLabel = "KIND",
      description = {
        "line, cdf, bar, heatmap, timeline or tornado (default: lines;",
        "without any of these options, all that the config asks for)."
      })
  private @Nullable FigureKind kind;

  @Option(
      names = "-x",
      paramLabel = "AXIS",
      description = "What lies on the abscissa; what bars stand side by side for.")
  private @Nullable String x;

  @Option(names = "-y", paramLabel = "METRIC", description = "What is shown, such as latency.")
  private @Nullable String metric;

  @Option(
      names = "--series",
      paramLabel = "AXIS",
      description = "One line, bar or colour for each of its values.")
  private @Nullable String series;

  @Option(names = "--facet", paramLabel = "AXIS", description = "One panel for each of its values.")
  private @Nullable String facet;

  @Option(names = "--rows", paramLabel = "AXIS", description = "The ordinate of a heat map.")
  private @Nullable String rows;

  @Option(
      names = "--only",
      paramLabel = "CONDITIONS",
      description = "A part of the run, such as 'size<=4K,path=pull|push.bf'.")
  private @Nullable String only;

  @Option(
      names = "--logx",
      arity = "1",
      paramLabel = "true|false",
      description = "Whether the abscissa of lines is logarithmic.")
  private @Nullable Boolean logX;

  @Option(
      names = "--logy",
      arity = "1",
      paramLabel = "true|false",
      description = "Whether the ordinate of lines is.")
  private @Nullable Boolean logY;

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
  private @Nullable Double percent;

  @Option(
      names = "--out",
      paramLabel = "DIR",
      description = "Folder for the figures (default: figures in the run directory).")
  private @Nullable Path out;

  @Override
  public ExitCode run(CommandContext context) throws RunException, ConfigException, UsageException {
    @Nullable FigureSpec spec = asked();
    List<PointCondition> part = conditions(only);
    Map<String, List<String>> written = new LinkedHashMap<>();
    List<Problem> damage = new ArrayList<>();
    for (String run : runs) {
      Path directory = place.find(run);
      StoredRun stored = StoredRun.read(directory);
      damage.addAll(stored.damage());
      Path folder = out == null ? directory.resolve(RunDirectory.FIGURES) : out;
      CommandContext own = UserKernels.ofRuns(context, List.of(directory));
      SequencedMap<String, byte[]> made =
          spec == null ? ofConfig(own, stored, part) : one(own, stored, spec);
      List<String> files =
          RunFiles.writeAll(context.disk(), folder, made).stream()
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
    return RunPlace.afterDamage(context, damage, ExitCode.OK);
  }

  /** The figure that the options describe; null where they leave all to the config. */
  private @Nullable FigureSpec asked() throws ConfigException {
    SequencedMap<String, String> options = new LinkedHashMap<>();
    SequencedMap<String, String> given = new LinkedHashMap<>();
    option("kind", "--kind", kind == null ? null : kind.word(), given, options);
    option("x", "-x", x, given, options);
    option("y", "-y", metric, given, options);
    option("series", "--series", series, given, options);
    option("facet", "--facet", facet, given, options);
    option("rows", "--rows", rows, given, options);
    option("logx", "--logx", logX, given, options);
    option("logy", "--logy", logY, given, options);
    option("share", "--share", percent, given, options);
    if (given.isEmpty()) {
      return null;
    }
    option("only", "--only", only, given, options);
    return FigureReader.ofOptions(given, options);
  }

  private static void option(
      String key,
      String option,
      @Nullable Object value,
      Map<String, String> given,
      Map<String, String> options) {
    if (value != null) {
      given.put(key, value.toString());
      options.put(key, option);
    }
  }

  private Set<PlotFormat> formats() {
    return types.isEmpty() ? PlotFormat.standard() : types;
  }

  private SequencedMap<String, byte[]> ofConfig(
      CommandContext context, StoredRun stored, List<PointCondition> part) throws RunException {
    Figures figures = Figures.of(stored, context.runtime());
    if (stored.data().figures().isEmpty()) {
      return unless(() -> figures.one(FigureSpec.of(FigureKind.LINE).within(part)))
          .files(formats());
    }
    Figures.Asked asked = figures.asked(part);
    if (asked.plots().isEmpty()) {
      throw RunException.unreadable(
          asked.missing().isEmpty()
              ? Problem.of("DB-R021", stored.data().runId(), "no point has a result")
                  .fix(
                      "doorbell table RUN says why; doorbell run --resume RUN runs what is missing")
              : asked.missing().getFirst());
    }
    asked.missing().forEach(problem -> context.terminal().err().println(problem.text()));
    return files(asked.plots());
  }

  private SequencedMap<String, byte[]> files(Plots plots) {
    SequencedMap<String, byte[]> files = new LinkedHashMap<>(plots.files(formats()));
    files.putAll(plots.companions());
    return files;
  }

  private SequencedMap<String, byte[]> one(
      CommandContext context, StoredRun stored, FigureSpec spec)
      throws RunException, UsageException {
    Figures figures = Figures.of(stored, context.runtime());
    return spec.kind() == FigureKind.TIMELINE
        ? timeline(figures, spec)
        : unless(() -> figures.one(spec)).files(formats());
  }

  /** Something that a run may not be able to give. */
  private interface Given<T> {
    T get() throws Unplottable;
  }

  private static <T> T unless(Given<T> given) throws RunException {
    try {
      return given.get();
    } catch (Unplottable e) {
      throw RunException.unreadable(e.problem());
    }
  }

  /** Reads {@code --only}. */
  static List<PointCondition> conditions(@Nullable String only) throws ConfigException {
    if (only == null) {
      return List.of();
    }
    List<Problem> problems = new ArrayList<>();
    List<PointCondition> conditions =
        PointCondition.parse(
            only, "--only " + only, Schema.experiment().settings().keySet(), problems);
    if (!problems.isEmpty()) {
      throw new ConfigException(problems);
    }
    return conditions;
  }

  /** The figure, the same for Perfetto, and the packets. */
  private SequencedMap<String, byte[]> timeline(Figures figures, FigureSpec spec)
      throws RunException, UsageException {
    try {
      Path capture = Files.createTempFile("doorbell", ".pcapng");
      try {
        Point point = unless(() -> figures.point(spec.only()));
        Timeline timeline = unless(() -> figures.trace(point, capture));
        SequencedMap<String, byte[]> files = files(figures.timelineOf(spec, point, timeline));
        String name = files.firstEntry().getKey().replaceAll("\\.[a-z]+$", "");
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
