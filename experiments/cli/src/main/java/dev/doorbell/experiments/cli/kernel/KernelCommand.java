package dev.doorbell.experiments.cli.kernel;

import dev.doorbell.experiments.cli.command.CliCommand;
import dev.doorbell.experiments.cli.command.CommandContext;
import dev.doorbell.experiments.cli.command.CommandGroup;
import dev.doorbell.experiments.cli.command.ExitCode;
import dev.doorbell.experiments.cli.command.Json;
import dev.doorbell.experiments.cli.command.UsageException;
import dev.doorbell.experiments.cli.kernel.KernelFiles.LinkedFiles;
import dev.doorbell.experiments.workbench.kernel.KernelWorkbench;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

@CommandLine.Command(
    header = {
      "Works on kernels of your own: writes, checks, runs and lists them. See docs/kernels.md.",
      "",
      "  doorbell kernel new my_put                          a kernel to start from, ready to run",
      "  doorbell kernel check kernels/my_put/my_put.ptx     what it needs, what is not supported",
      "  doorbell kernel run k.ptx --entry sum --arg in:x.bin --arg out:y.bin:64",
      "  doorbell kernel build kernels/my_put                compile it again, with nvcc",
      "  doorbell kernel disasm k.ptx                        blocks, slots, polling loops",
      "  doorbell kernel diff-run put_latency                the same on a real GPU as on the VM?",
      ""
    })
public final class KernelCommand extends CommandGroup {
  public KernelCommand() {
    super(
        "kernel",
        "the kernel",
        List.of(
            new Action("new", KernelNewCommand::new),
            new Action("check", KernelCheckCommand::new),
            new Action("run", KernelRunCommand::new),
            new Action("build", KernelBuildCommand::new),
            new Action("disasm", KernelDisasmCommand::new),
            new Action("diff-run", KernelDiffRunCommand::new)));
  }

  @CommandLine.Command(
      header = {
        "Lists PTX as the virtual machine sees it.",
        "",
        "  doorbell kernel disasm my_put.ptx",
        "",
        "Each line: its number in the PTX, P on a branch that closes a polling loop, the"
            + " instruction,",
        "the slots that it reads -> writes. B0, B1 ... are basic blocks with where they lead;"
            + " lines",
        "with ; are source lines, as far as the PTX has a line table (nvcc -lineinfo).",
        ""
      })
  static final class KernelDisasmCommand extends CliCommand {
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
        lines.forEach(context.out()::println);
      }
      report.unsupported().forEach(line -> context.err().println(KernelFiles.problem(line).text()));
      return report.unsupported().isEmpty() ? ExitCode.OK : ExitCode.FAILED;
    }
  }
}
