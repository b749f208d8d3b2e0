package dev.doorbell.experiments.cli.paper;

import dev.doorbell.core.problem.ProblemException;
import dev.doorbell.experiments.cli.command.CliCommand;
import dev.doorbell.experiments.cli.command.CommandContext;
import dev.doorbell.experiments.cli.command.ExitCode;
import dev.doorbell.experiments.cli.command.Version;
import dev.doorbell.experiments.results.paper.PaperPack;
import dev.doorbell.experiments.run.RunDirectory.RunFiles;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@CommandLine.Command(
    header = {
      "Packs a paper's artifact: texts, raw samples, what is made of them, checksums, checklist.",
      "",
      "  doorbell paper pack papers/pull-vs-push",
      ""
    })
final class PaperPackCommand extends CliCommand {
  @Parameters(paramLabel = "DIR", description = "The paper's folder, with its paper.yaml.")
  private Path folder = Path.of(".");

  @Option(
      names = {"-o", "--out"},
      paramLabel = "FILE",
      description = "The archive (default: NAME-artifact.zip here).")
  private @Nullable Path out;

  @Override
  public ExitCode run(CommandContext context) throws ProblemException {
    BuiltPaper built =
        BuiltPaper.of(
            context, folder, folder.resolve(BuiltPaper.RUNS), common().quiet() || common().json());
    Path file =
        (out == null ? Path.of(built.paper().name() + "-artifact.zip") : out).toAbsolutePath();
    try {
      byte[] archive =
          PaperPack.of(
              folder,
              built.paper(),
              built.files(),
              built.runs().directories(),
              built.runs().calibrations(),
              Version.NUMBER);
      RunFiles.write(context.disk(), file, archive);
      print(
          context,
          () -> Map.of("archive", file.toString(), "bytes", archive.length),
          () -> file + "\n");
    } catch (IOException e) {
      throw PaperRuns.unwritable(file, e);
    }
    return ExitCode.OK;
  }
}
