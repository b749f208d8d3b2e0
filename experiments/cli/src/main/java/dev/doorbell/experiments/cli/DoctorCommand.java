package dev.doorbell.experiments.cli;

import dev.doorbell.core.problem.Nearest;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.doctor.Diagnosis;
import dev.doorbell.doctor.catalogue.Code;
import dev.doorbell.doctor.facts.Facts;
import dev.doorbell.doctor.log.LogDiagnosis;
import dev.doorbell.doctor.log.LogPattern;
import dev.doorbell.doctor.report.JsonReport;
import dev.doorbell.doctor.report.TextReport;
import dev.doorbell.experiments.cli.command.CliCommand;
import dev.doorbell.experiments.cli.command.CommandContext;
import dev.doorbell.experiments.cli.command.ExitCode;
import dev.doorbell.experiments.cli.command.UsageException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Option;

@CommandLine.Command(
    header = {
      "Says whether this machine can do GPUDirect RDMA, and what is in the way. See"
          + " docs/doctor.md.",
      "",
      "  doorbell doctor                          the whole checklist",
      "  doorbell doctor --explain PEERMEM-02     what a code means, how it is known, what fixes"
          + " it",
      "",
      "It reads files below /proc, /sys and /dev and nothing else; as root it sees more of PCI"
          + " config",
      "space. A missing device is ABSENT and no failure. Exits with 4 when a device that is there is",
      "broken.",
      ""
    })
final class DoctorCommand extends CliCommand {
  @Option(
      names = "--root",
      paramLabel = "DIR",
      defaultValue = "/",
      description = "Look at a copy of a machine's /proc, /sys, /dev ... below DIR.")
  private String root = "/";

  @Option(names = "--explain", paramLabel = "CODE", description = "Explain a code, or 'all'.")
  private @Nullable String explain;

  @Override
  public ExitCode run(CommandContext context) throws UsageException {
    if (explain != null) {
      return explain(context, explain);
    }
    if (!Files.isDirectory(folder(root))) {
      throw new UsageException(
          Problem.of("DB-U070", root, "there is no such folder")
              .fix("give a folder that has proc and sys of a machine"));
    }
    Diagnosis diagnosis = Diagnosis.of(Facts.read(folder(root)));
    print(
        context,
        () -> JsonReport.of(diagnosis),
        () -> TextReport.text(diagnosis, common().quiet(), common().verbose()));
    return diagnosis.failed() ? ExitCode.ENVIRONMENT : ExitCode.OK;
  }

  private static Path folder(String name) throws UsageException {
    try {
      return Path.of(name);
    } catch (InvalidPathException _) {
      throw new UsageException(Problem.of("DB-U070", null, "this is no name of a folder"));
    }
  }

  private ExitCode explain(CommandContext context, String id) throws UsageException {
    if (id.equals("all")) {
      print(context, Code.all().stream().map(TextReport::explain).toList());
      return ExitCode.OK;
    }
    Optional<String> text =
        Code.find(id)
            .map(TextReport::explain)
            .or(() -> LogPattern.find(id).map(LogDiagnosis::explain));
    if (text.isEmpty()) {
      List<String> ids =
          Stream.concat(
                  Code.all().stream().map(Code::id),
                  LogPattern.all().stream().map(LogPattern::code))
              .toList();
      throw new UsageException(
          Problem.of(
                  "DB-U072",
                  null,
                  "the doctor has no code '%s'%s".formatted(id, Nearest.suggestion(id, ids)))
              .fix("doorbell doctor --explain all"));
    }
    print(context, List.of(text.get()));
    return ExitCode.OK;
  }

  private static void print(CommandContext context, List<String> texts) {
    context.out().print(String.join("\n", texts));
  }
}
