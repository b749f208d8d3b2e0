package dev.doorbell.experiments.cli.plan;

import dev.doorbell.core.problem.Nearest;
import dev.doorbell.experiments.cli.command.CliCommand;
import dev.doorbell.experiments.cli.command.CommandContext;
import dev.doorbell.experiments.cli.command.ExitCode;
import dev.doorbell.experiments.cli.command.Json;
import dev.doorbell.experiments.cli.command.UsageException;
import java.util.List;
import java.util.Set;
import picocli.CommandLine;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

@CommandLine.Command(
    header = {
      "Explains a name: an experiment, kernel, path, topology, metric, axis, code, status or"
          + " variable.",
      "",
      "  doorbell describe pull-vs-push",
      "  doorbell describe push.memic",
      "  doorbell describe h200-cx7 > mine.yaml               a topology to change",
      "  doorbell describe DB-C035",
      "  doorbell describe IBV_WC_RETRY_EXC_ERR",
      "  doorbell describe 0x81",
      "  doorbell describe NCCL_NET_GDR_LEVEL",
      ""
    })
public final class DescribeCommand extends CliCommand {
  private static final Set<String> OF_OTHERS =
      Set.of("code", "log line", "status", "syndrome", "vendor error", "variable");

  @Mixin private UserKernels kernels = new UserKernels();

  @Parameters(paramLabel = "NAME", description = "As in doorbell list.")
  private String name = "";

  /** Codes, errors and variables are also found in lower case. */
  private boolean isCode(Glossary.Entry entry) {
    return OF_OTHERS.contains(entry.kind()) && entry.name().equalsIgnoreCase(name);
  }

  @Override
  public ExitCode run(CommandContext context) throws UsageException {
    List<Glossary.Entry> all = new Glossary(kernels.join(context, null)).all();
    List<Glossary.Entry> found =
        all.stream().filter(entry -> entry.name().equals(name) || isCode(entry)).toList();
    if (found.isEmpty()) {
      List<String> names = all.stream().map(Glossary.Entry::name).distinct().toList();
      throw UsageException.of(
          "DB-U004",
          null,
          "nothing is named '%s'%s".formatted(name, Nearest.suggestion(name, names)),
          "doorbell list");
    }
    if (common().json()) {
      Json.print(context, found.stream().map(Glossary.Entry::tree).toList());
      return ExitCode.OK;
    }
    for (Glossary.Entry entry : found) {
      if (entry.kind().equals(Glossary.TOPOLOGY)) {
        // As it is read again: all that is not YAML is a comment, and no line is folded.
        String text = entry.text().strip();
        context.printf("# topology %s%n%s%n", entry.name(), text);
        continue;
      }
      String text = "%s %s%n%s%n".formatted(entry.kind(), entry.name(), entry.summary());
      if (!entry.text().isEmpty()) {
        text += "\n" + entry.text() + (entry.text().endsWith("\n") ? "" : "\n");
      }
      context.print(text);
    }
    return ExitCode.OK;
  }
}
