package dev.doorbell.experiments.cli.results;

import dev.doorbell.core.problem.ProblemException;
import dev.doorbell.experiments.cli.command.CliCommand;
import dev.doorbell.experiments.cli.command.CommandContext;
import dev.doorbell.experiments.cli.command.ExitCode;
import dev.doorbell.experiments.cli.plan.UserKernels;
import dev.doorbell.experiments.config.figure.FigureReader;
import dev.doorbell.experiments.config.figure.FigureSpec;
import dev.doorbell.experiments.results.report.HtmlReport;
import dev.doorbell.experiments.run.RunDirectory.RunFiles;
import dev.doorbell.experiments.run.StoredRun;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@CommandLine.Command(
    header = {
      "Writes runs as one HTML file that works offline. See docs/report.md.",
      "",
      "  doorbell report RUN                       writes report.html into the run directory",
      "  doorbell report RUN RUN -o compare.html   several runs on one page",
      ""
    })
public final class ReportCommand extends CliCommand {
  private static final String NAME = "report.html";

  @Mixin private RunPlace place = new RunPlace();

  @Parameters(paramLabel = "RUN", arity = "1..*", description = "Runs: directories, names or tags.")
  private List<String> runs = new ArrayList<>();

  @Option(
      names = {"-o", "--out"},
      paramLabel = "FILE",
      description = "The file (default: report.html in the first run's directory).")
  private @Nullable Path out;

  @Option(
      names = "--figure",
      paramLabel = "FIGURE",
      description =
          "A figure beside those of the config, as the config would name it: "
              + "'{kind: tornado, only: path=pull}'. May be given several times.")
  private List<String> figures = new ArrayList<>();

  @Override
  public ExitCode run(CommandContext context) throws ProblemException {
    List<FigureSpec> further = new ArrayList<>();
    for (String figure : figures) {
      further.add(FigureReader.ofText("--figure", figure));
    }
    List<StoredRun> stored = new ArrayList<>();
    for (String run : runs) {
      stored.add(StoredRun.read(place.find(run)));
    }
    Path file = out == null ? stored.getFirst().path().resolve(NAME) : out;
    CommandContext own = UserKernels.ofRuns(context, stored.stream().map(StoredRun::path).toList());
    RunFiles.write(context.disk(), file, HtmlReport.of(stored, further, own.runtime()));
    print(context, () -> Map.of("report", file.toString()), () -> file + "\n");
    return RunPlace.afterDamage(
        context, stored.stream().flatMap(run -> run.damage().stream()).toList(), ExitCode.OK);
  }
}
