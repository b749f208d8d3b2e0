package dev.doorbell.experiments.cli.kernel;

import dev.doorbell.experiments.workbench.kernel.KernelWorkbench;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/** The command that compiles a kernel. */
final class KernelCompiler {
  private KernelCompiler() {}

  /** Where the device library lies. */
  static Path include() {
    return Path.of(System.getProperty("doorbell.home", "."), "kernels", "include");
  }

  /** nvcc's command line. */
  static List<String> command(KernelWorkbench workbench, Path source, Path ptx) {
    List<String> command = new ArrayList<>();
    command.add("nvcc");
    command.addAll(workbench.compilerFlags());
    command.add("-I" + include());
    command.add(source.toString());
    command.add("-o");
    command.add(ptx.toString());
    return command;
  }

  /** The same as one would type it. */
  static String text(List<String> command) {
    return command.stream()
        .map(word -> word.matches("[A-Za-z0-9_./=+:,@-]+") ? word : "'" + word + "'")
        .collect(Collectors.joining(" "));
  }
}
