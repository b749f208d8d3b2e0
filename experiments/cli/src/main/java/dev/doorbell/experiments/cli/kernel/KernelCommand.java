package dev.doorbell.experiments.cli.kernel;

import dev.doorbell.experiments.cli.command.CommandGroup;
import java.util.List;
import picocli.CommandLine;

@CommandLine.Command(
    header = {
      "Works on kernels of your own: writes, checks and compiles them. See docs/kernels.md.",
      "",
      "  doorbell kernel new my_put                          a kernel to start from, ready to run",
      "  doorbell kernel check kernels/my_put/my_put.ptx     what it needs, what is not supported",
      "  doorbell kernel build kernels/my_put                compile it again, with nvcc",
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
            new Action("build", KernelBuildCommand::new)));
  }
}
