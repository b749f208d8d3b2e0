package dev.doorbell.experiments.cli.paper;

import dev.doorbell.core.problem.ProblemException;
import dev.doorbell.experiments.cli.command.CliCommand;
import dev.doorbell.experiments.cli.command.CommandContext;
import dev.doorbell.experiments.cli.command.ExitCode;
import dev.doorbell.experiments.cli.command.Json;
import dev.doorbell.experiments.results.print.Units;
import dev.doorbell.experiments.run.RunDirectory.RunFiles;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import picocli.CommandLine;
import picocli.CommandLine.Parameters;

@CommandLine.Command(
    header = {
      "Runs what a paper needs and has not, and writes its figures, tables and numbers.",
      "",
      "  doorbell paper build papers/pull-vs-push",
      ""
    })
final class PaperBuildCommand extends CliCommand {
  @Parameters(paramLabel = "DIR", description = "The paper's folder, with its paper.yaml.")
  private Path folder = Path.of(".");

  @Override
  public ExitCode run(CommandContext context) throws ProblemException {
    SequencedMap<String, byte[]> files =
        PaperRuns.build(
            context, folder, folder.resolve(PaperRuns.RUNS), common().quiet() || common().json());
    Path generated = folder.resolve(PaperRuns.GENERATED);
    Path part = folder.resolve("." + PaperRuns.GENERATED + ".part");
    PaperRuns.delete(part);
    List<String> written = RunFiles.writeAll(context.disk(), part, files);
    PaperRuns.delete(generated);
    PaperRuns.move(part, generated);
    if (common().json()) {
      Json.print(context, Map.of("generated", written));
    } else if (!common().quiet()) {
      context.printf("built %s in %s%n", Units.count(written.size(), "file"), generated);
    }
    return ExitCode.OK;
  }
}
