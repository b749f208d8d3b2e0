package dev.doorbell.experiments.cli.results;

import dev.doorbell.core.problem.Problem;
import dev.doorbell.core.problem.ProblemException;
import dev.doorbell.experiments.cli.command.CliCommand;
import dev.doorbell.experiments.cli.command.CommandContext;
import dev.doorbell.experiments.cli.command.ExitCode;
import dev.doorbell.experiments.cli.command.Json;
import dev.doorbell.experiments.cli.command.Terminal;
import dev.doorbell.experiments.cli.command.UsageException;
import dev.doorbell.experiments.cli.plan.UserKernels;
import dev.doorbell.experiments.config.condition.PointCondition;
import dev.doorbell.experiments.config.figure.FigureKind;
import dev.doorbell.experiments.config.figure.FigureSpec;
import dev.doorbell.experiments.config.figure.FigureStyle;
import dev.doorbell.experiments.config.schema.Schema;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.plan.Timeline;
import dev.doorbell.experiments.results.figures.Figures;
import dev.doorbell.experiments.results.figures.Plots.PlotFormat;
import dev.doorbell.experiments.results.print.Screen;
import dev.doorbell.experiments.results.validation.Credit;
import dev.doorbell.experiments.run.RunDirectory;
import dev.doorbell.experiments.run.RunDirectory.RunFiles;
import dev.doorbell.experiments.run.RunException;
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
      "  doorbell plot RUN --as pdf --out paper/figures",
      "  doorbell plot RUN --width column --footer false --names pull='NIC pull' --yunit us",
      ""
    })
public final class PlotCommand extends CliCommand {
  @Mixin private RunPlace place = new RunPlace();

  @Parameters(paramLabel = "RUN", arity = "1..*", description = "Runs: directories, names or tags.")
  private List<String> runs = new ArrayList<>();

  @Mixin private FigureOptions figure = new FigureOptions();

  @Option(
      names = "--as",
      split = ",",
      paramLabel = "TYPE",
      description = "svg, pdf, png (default: svg,pdf).")
  private Set<PlotFormat> types = EnumSet.noneOf(PlotFormat.class);

  @Option(
      names = "--out",
      paramLabel = "DIR",
      description =
          "Folder for the figures (default: figures in the run directory); "
              + "those of several runs lie in a folder each there.")
  private @Nullable Path out;

  @Override
  public ExitCode run(CommandContext context) throws ProblemException {
    @Nullable FigureSpec spec = figure.figure();
    List<PointCondition> part =
        PointCondition.ofOption(figure.only(), Schema.experiment().settings().keySet());
    Map<String, List<String>> written = new LinkedHashMap<>();
    List<Problem> damage = new ArrayList<>();
    List<StoredRun> all = new ArrayList<>();
    for (String run : runs) {
      StoredRun stored = StoredRun.read(place.find(run));
      damage.addAll(stored.damage());
      all.add(stored);
    }
    FigureStyle style = figure.style();
    for (int i = 0; i < all.size(); i++) {
      StoredRun stored = all.get(i);
      CommandContext own = UserKernels.ofRuns(context, List.of(stored.path()));
      written.put(
          runs.get(i),
          write(
              context,
              folder(stored),
              spec == null ? ofConfig(own, stored, part, style) : one(own, stored, spec)));
    }
    if (common().json()) {
      Json.print(context, written);
    }
    return RunPlace.afterDamage(context, damage, ExitCode.OK);
  }

  /** Returns the folder for figures of one run: no two of several runs share one. */
  private Path folder(StoredRun stored) {
    if (out == null) {
      return stored.path().resolve(RunDirectory.FIGURES);
    }
    return runs.size() == 1 ? out : out.resolve(stored.data().runId());
  }

  private List<String> write(CommandContext context, Path folder, SequencedMap<String, byte[]> made)
      throws RunException {
    List<String> names = RunFiles.writeAll(context.disk(), folder, made);
    List<String> files = names.stream().map(file -> folder.resolve(file).toString()).toList();
    if (!common().json()) {
      Terminal terminal = context.terminal();
      if (files.stream().allMatch(file -> file.length() <= terminal.width())) {
        files.forEach(terminal.out()::println);
      } else {
        String list = "%s:%n  %s".formatted(folder, String.join(" ", names));
        terminal.out().println(Screen.folded(list, terminal.width()));
      }
    }
    return files;
  }

  private Set<PlotFormat> formats() {
    return types.isEmpty() ? PlotFormat.standard() : types;
  }

  private SequencedMap<String, byte[]> ofConfig(
      CommandContext context, StoredRun stored, List<PointCondition> part, FigureStyle style)
      throws ProblemException {
    Figures figures = Credit.figures(stored, context.runtime());
    if (stored.data().figures().isEmpty()) {
      return figures
          .one(FigureSpec.of(FigureKind.LINE).within(part).styled(style))
          .files(formats());
    }
    Figures.Asked asked = figures.asked(part, style);
    if (asked.plots().isEmpty()) {
      throw RunException.unreadable(
          asked.missing().isEmpty()
              ? Problem.of("DB-R021", stored.data().runId(), "no point has a result")
                  .fix(
                      "doorbell table RUN says why; doorbell run --resume RUN runs what is missing")
              : asked.missing().getFirst());
    }
    asked.missing().forEach(context::problem);
    return asked.plots().files(formats());
  }

  private SequencedMap<String, byte[]> one(
      CommandContext context, StoredRun stored, FigureSpec spec) throws ProblemException {
    Figures figures = Credit.figures(stored, context.runtime());
    return spec.kind() == FigureKind.TIMELINE
        ? timeline(figures, spec)
        : figures.one(spec).files(formats());
  }

  /** The figure and the packets. */
  private SequencedMap<String, byte[]> timeline(Figures figures, FigureSpec spec)
      throws ProblemException {
    try {
      Path capture = Files.createTempFile("doorbell", ".pcapng");
      try {
        Point point = figures.point(spec.only());
        Timeline timeline = figures.trace(point, capture);
        SequencedMap<String, byte[]> files =
            new LinkedHashMap<>(figures.timelineOf(spec, point, timeline).files(formats()));
        String name = files.firstEntry().getKey().replaceAll("\\.[a-z]+$", "");
        files.put(name + ".pcapng", Files.readAllBytes(capture));
        return files;
      } finally {
        Files.deleteIfExists(capture);
      }
    } catch (IOException e) {
      throw UsageException.of(
          "DB-U004",
          null,
          "the packets cannot be kept: " + e.getMessage(),
          "set TMPDIR to a folder with room");
    }
  }
}
