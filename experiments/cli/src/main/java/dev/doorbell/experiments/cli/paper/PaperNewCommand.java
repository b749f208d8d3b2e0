package dev.doorbell.experiments.cli.paper;

import dev.doorbell.core.Resources;
import dev.doorbell.core.problem.ProblemException;
import dev.doorbell.core.problem.Typed;
import dev.doorbell.experiments.cli.command.CliCommand;
import dev.doorbell.experiments.cli.command.CommandContext;
import dev.doorbell.experiments.cli.command.ExitCode;
import dev.doorbell.experiments.cli.command.UsageException;
import dev.doorbell.experiments.results.paper.Paper;
import dev.doorbell.experiments.run.RunDirectory.RunFiles;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.SequencedMap;
import picocli.CommandLine;
import picocli.CommandLine.Parameters;

@CommandLine.Command(
    header = {
      "Writes a paper to start from: one run, one figure, one table, one number. It builds.",
      "",
      "  doorbell paper new papers/mine",
      ""
    })
final class PaperNewCommand extends CliCommand {
  @Parameters(paramLabel = "DIR", description = "The paper's folder; its name is the paper's.")
  private Path folder = Path.of(".");

  @Override
  public ExitCode run(CommandContext context) throws ProblemException {
    if (Files.exists(folder.resolve(Paper.FILE))) {
      throw UsageException.of(
          "DB-U072",
          folder.toString(),
          "there is a paper already",
          "doorbell paper build " + folder);
    }
    String name = String.valueOf(folder.toAbsolutePath().normalize().getFileName());
    SequencedMap<String, byte[]> files = new LinkedHashMap<>();
    files.put(Paper.FILE, template(Paper.FILE, name));
    files.put("paper.md", template("paper.md", name));
    files.put("paper.tex", template("paper.tex", name.replaceAll("([_&%$#])", "\\\\$1")));
    files.put(".gitignore", "runs/\n".getBytes(StandardCharsets.UTF_8));
    RunFiles.writeAll(context.disk(), folder, files)
        .forEach(file -> context.println(folder.resolve(file)));
    if (!common().quiet()) {
      context.println(Typed.in("next  doorbell paper build " + folder));
    }
    return ExitCode.OK;
  }

  private static byte[] template(String file, String name) {
    String text = Resources.text(PaperNewCommand.class, file);
    return text.replace("NAME", name).getBytes(StandardCharsets.UTF_8);
  }
}
