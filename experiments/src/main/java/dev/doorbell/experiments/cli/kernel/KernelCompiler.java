package dev.doorbell.experiments.cli.kernel;

import dev.doorbell.experiments.config.kernel.DeviceApi;
import dev.doorbell.experiments.workbench.kernel.KernelWorkbench;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/** The command that compiles a kernel. */
final class KernelCompiler {
  private static final String ARCH = "-arch=";

  /** Other libraries' device code is written for GPUs of data centres. */
  private static final String API_ARCH = "compute_90";

  private KernelCompiler() {}

  /** Where the device library lies. */
  static Path include() {
    return Path.of(System.getProperty("doorbell.home", "."), "kernels", "include");
  }

  /** nvcc's command line for a kernel over Doorbell's own library. */
  static List<String> command(KernelWorkbench workbench, Path source, Path ptx) {
    return command(workbench, Optional.empty(), List.of(), source, ptx);
  }

  /**
   * nvcc's command line.
   *
   * @param api whose device code the kernel is made of; its structures' layout goes into the PTX
   * @param includes folders of the user's, in order
   */
  static List<String> command(
      KernelWorkbench workbench,
      Optional<DeviceApi> api,
      List<Path> includes,
      Path source,
      Path ptx) {
    List<String> command = new ArrayList<>();
    command.add("nvcc");
    for (String flag : workbench.compilerFlags()) {
      command.add(api.isPresent() && flag.startsWith(ARCH) ? ARCH + API_ARCH : flag);
    }
    command.add("-I" + include());
    includes.forEach(folder -> command.add("-I" + folder));
    api.ifPresent(
        of -> {
          command.addAll(of.compilerFlags());
          command.add("-include");
          command.add("doorbell/api/%s.cuh".formatted(of.word()));
        });
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
