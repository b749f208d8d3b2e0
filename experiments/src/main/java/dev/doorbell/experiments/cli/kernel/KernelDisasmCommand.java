package dev.doorbell.experiments.cli.kernel;

import dev.doorbell.experiments.cli.command.CliCommand;
import dev.doorbell.experiments.cli.command.CommandContext;
import dev.doorbell.experiments.cli.command.ExitCode;
import dev.doorbell.experiments.cli.command.Json;
import dev.doorbell.experiments.cli.command.UsageException;
import dev.doorbell.experiments.cli.kernel.KernelFiles.LinkedFiles;
import dev.doorbell.experiments.workbench.kernel.KernelWorkbench;
import picocli.CommandLine;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** {@code doorbell kernel disasm FILE}. */
@CommandLine.Command(
    header = {
      "Lists PTX as the virtual machine sees it.",
      "",
      "  doorbell kernel disasm my_put.ptx",
      "",
      "Each line: its number in the PTX, P on a branch that closes a polling loop, the"
          + " instruction,",
      "the slots that it reads -> writes. B0, B1 ... are basic blocks with where they lead; lines",
      "with ; are source lines, as far as the PTX has a line table (nvcc -lineinfo).",
      ""
    })
final class KernelDisasmCommand extends CliCommand {
  @Parameters(paramLabel = "FILE", description = "PTX.")
  private String file = "";

  @Mixin private LinkedFiles linked = new LinkedFiles();

  @Override
  public ExitCode run(CommandContext context) throws UsageException {
    String ptx = linked.ptx(file);
    KernelWorkbench workbench = KernelWorkbench.find();
    var lines = workbench.disassemble(file, ptx, name -> KernelFiles.source(file, name));
    var report = workbench.check(file, ptx);
    if (common().json()) {
      Json.print(context, lines);
    } else {
      lines.forEach(context.terminal().out()::println);
    }
    report
        .unsupported()
        .forEach(line -> context.terminal().err().println(KernelFiles.problem(line).text()));
    return report.unsupported().isEmpty() ? ExitCode.OK : ExitCode.FAILED;
  }
}
