package dev.doorbell.experiments.cli.kernel;

import dev.doorbell.core.problem.EnvironmentException;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.core.problem.ProblemException;
import dev.doorbell.experiments.cli.command.CliCommand;
import dev.doorbell.experiments.cli.command.CommandContext;
import dev.doorbell.experiments.cli.command.ExitCode;
import dev.doorbell.experiments.cli.command.UsageException;
import dev.doorbell.experiments.workbench.kernel.KernelWorkbench;
import dev.doorbell.experiments.workbench.kernel.KernelWorkbench.KernelReport;
import dev.doorbell.kernels.KernelTemplates;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@CommandLine.Command(
    header = {
      "Compiles kernels with the nvcc on PATH, and checks the PTX.",
      "",
      "  doorbell kernel build kernels/my_put          every .cu of the folder",
      "  doorbell kernel build my_put.cu",
      "  doorbell kernel build kernels/my_put --dry-run   print nvcc's command line",
      ""
    })
final class KernelBuildCommand extends CliCommand {
  private static final Pattern VERSION = Pattern.compile("(?m)^\\.version .*$");
  private static final String STANDARD_ISA = "8.2";
  private static final String RELOCATABLE = "-rdc=true";
  private static final Pattern PRAGMA =
      Pattern.compile("(?m)^\\s*\\.pragma \"used_bytes_mask[^\\n]*\\n");

  @Parameters(paramLabel = "FOLDER|FILE", description = "A folder with .cu files, or one of them.")
  private Path what = Path.of("");

  @Option(
      names = "--include",
      paramLabel = "DIR",
      description = "A folder with headers; repeat for more.")
  private List<Path> includes = new ArrayList<>();

  @Option(
      names = "--linked",
      description =
          "Compile files that are linked with each other (nvcc's -rdc=true): a "
              + "descriptor lists them, ptx: [A.ptx, B.ptx].")
  private boolean linked;

  @Option(names = "--dry-run", description = "Say what would be run.")
  private boolean dryRun;

  @Option(
      names = "--isa",
      paramLabel = "ISA",
      description = "Write this .version, for older drivers (default: 8.2, of CUDA 12.2).")
  private String isa = STANDARD_ISA;

  @Override
  public ExitCode run(CommandContext context) throws ProblemException {
    if (!isa.matches("[1-9][0-9]?\\.[0-9]")) {
      throw UsageException.wrong("--isa", "'%s' is no PTX ISA such as 8.2".formatted(isa));
    }
    ExitCode worst = ExitCode.OK;
    for (Path source : sources()) {
      Path ptx = source.resolveSibling(baseName(source) + ".ptx");
      List<String> command = new ArrayList<>(KernelCompiler.command(includes, source, ptx));
      if (linked) {
        command.add(1, RELOCATABLE);
      }
      context.println(KernelCompiler.text(command));
      if (!dryRun && !compile(context, command, ptx)) {
        worst = ExitCode.FAILED;
      }
    }
    return worst;
  }

  private static String baseName(Path source) {
    return String.valueOf(source.getFileName()).replaceFirst("\\.cu$", "");
  }

  private List<Path> sources() throws UsageException {
    if (Files.isRegularFile(what)) {
      return List.of(what);
    }
    if (Files.isDirectory(what)) {
      try (Stream<Path> files = Files.list(what)) {
        List<Path> sources =
            files.filter(file -> file.toString().endsWith(".cu")).sorted().toList();
        if (!sources.isEmpty()) {
          return sources;
        }
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
      throw UsageException.of("DB-K001", what.toString(), "no .cu lies in this folder");
    }
    throw UsageException.of(
        "DB-K001",
        what.toString(),
        "there is no such file or folder",
        "give the folder of the kernel: doorbell kernel build kernels/NAME");
  }

  private boolean compile(CommandContext context, List<String> command, Path ptx)
      throws EnvironmentException {
    try {
      Path raw = Files.createTempFile("doorbell", ".ptx");
      try {
        List<String> toRaw = new ArrayList<>(command);
        toRaw.set(toRaw.size() - 1, raw.toString());
        Process nvcc = new ProcessBuilder(toRaw).redirectErrorStream(true).start();
        String said = new String(nvcc.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        context.err().print(said);
        if (nvcc.waitFor() != 0) {
          context
              .err()
              .println(
                  Problem.of("DB-K010", ptx.toString(), "nvcc refused the source")
                      .effect("the PTX is as it was")
                      .text());
          return false;
        }
        // nvcc asks for its own, newest ISA, which older drivers refuse; so does the pragma, a
        // hint.
        String text = PRAGMA.matcher(Files.readString(raw)).replaceAll("");
        Files.writeString(ptx, VERSION.matcher(text).replaceFirst(".version " + isa));
      } finally {
        Files.deleteIfExists(raw);
      }
      return report(context, KernelWorkbench.check(ptx.toString(), Files.readString(ptx)));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    } catch (IOException e) {
      throw new EnvironmentException(
          Problem.of("DB-K010", "nvcc", "it cannot be started: " + e.getMessage())
              .effect("the PTX is as it was, and still works")
              .fix(
                  "install the CUDA toolkit (13.0) and put its bin on PATH, or run the line above"
                      + " on a machine that has it"));
    }
  }

  private static boolean report(CommandContext context, KernelReport report) {
    report.unsupported().forEach(line -> context.err().println(KernelFiles.problem(line).text()));
    if (report.unsupported().isEmpty()) {
      context.printf(
          "%s  ok, %s%n",
          report.file(),
          String.join(
              ", ",
              report.entries().stream()
                  .map(entry -> entry.name() + " " + entry.instructions() + " instructions")
                  .toList()));
    }
    return report.unsupported().isEmpty();
  }

  static final class KernelCompiler {
    private KernelCompiler() {}

    static List<String> command(List<Path> includes, Path source, Path ptx) {
      List<String> command = new ArrayList<>();
      command.add("nvcc");
      command.addAll(KernelTemplates.load().compilerFlags());
      command.add("-I" + Path.of(System.getProperty("doorbell.home", "."), "kernels", "include"));
      includes.forEach(folder -> command.add("-I" + folder));
      command.add(source.toString());
      command.add("-o");
      command.add(ptx.toString());
      return command;
    }

    static String text(List<String> command) {
      return command.stream()
          .map(word -> word.matches("[A-Za-z0-9_./=+:,@-]+") ? word : "'" + word + "'")
          .collect(Collectors.joining(" "));
    }
  }
}
