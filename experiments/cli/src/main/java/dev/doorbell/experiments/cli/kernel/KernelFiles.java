package dev.doorbell.experiments.cli.kernel;

import dev.doorbell.core.agent.PtxFiles;
import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.core.problem.Nearest;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.cli.command.CommandContext;
import dev.doorbell.experiments.cli.command.UsageException;
import dev.doorbell.experiments.kernels.KernelFolders;
import dev.doorbell.experiments.kernels.UserKernel;
import dev.doorbell.experiments.workbench.kernel.KernelWorkbench.KernelReport;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Files that commands on kernels read, and what is said when they cannot. */
final class KernelFiles {
  static final int MOST_BYTES = 1 << 30;

  private static final int SHOWN = 8;

  private KernelFiles() {}

  static UserKernel described(Path file) throws UsageException {
    try {
      return KernelFolders.read(file);
    } catch (ConfigException e) {
      throw new UsageException(e.problems().getFirst());
    }
  }

  static String ptx(String file) throws UsageException {
    try {
      return Files.readString(Path.of(file));
    } catch (CharacterCodingException _) {
      throw UsageException.of(
          "DB-K001", file, "this is not PTX: it is not text", "give the .ptx, not a cubin");
    } catch (IOException | InvalidPathException e) {
      throw UsageException.of(
          "DB-K001",
          file,
          reason(file, e) + (e instanceof NoSuchFileException ? neighbours(file) : ""));
    }
  }

  /** Files beside the one that is not there, which may be the one that was meant. */
  private static String neighbours(String file) {
    Path path = Path.of(file).toAbsolutePath();
    Path parent = path.getParent();
    if (parent == null) {
      return "";
    }
    try (Stream<Path> files = Files.list(parent)) {
      List<String> names =
          files
              .map(other -> String.valueOf(other.getFileName()))
              .filter(name -> name.endsWith(".ptx"))
              .sorted()
              .toList();
      return Nearest.suggestion(String.valueOf(path.getFileName()), names);
    } catch (IOException _) {
      return "";
    }
  }

  static byte[] bytes(String argument, String file) throws UsageException {
    try (InputStream in = Files.newInputStream(Path.of(file))) {
      byte[] bytes = in.readNBytes(MOST_BYTES + 1);
      if (bytes.length > MOST_BYTES) {
        throw UsageException.of(
            "DB-K004", "--arg " + argument, file + ": at most 1 GiB fits an argument");
      }
      return bytes;
    } catch (IOException | InvalidPathException e) {
      throw UsageException.of(
          "DB-K001", "--arg " + argument, "%s: %s".formatted(file, reason(file, e)));
    }
  }

  private static String reason(String file, Exception e) {
    return switch (e) {
      case NoSuchFileException _ -> "there is no such file";
      case InvalidPathException _ -> "this cannot be the name of a file";
      default -> Files.isDirectory(Path.of(file)) ? "this is a folder" : "it cannot be read";
    };
  }

  /** Says why the PTX cannot be loaded; true when it can. */
  static boolean isLoadable(CommandContext context, KernelReport report) {
    List<KernelReport.Line> refused = report.unsupported();
    PrintStream err = context.err();
    refused.stream().limit(SHOWN).forEach(line -> err.println(problem(line).text()));
    if (refused.size() > SHOWN) {
      err.printf(
          "and %d more lines; doorbell kernel check %s lists them%n",
          refused.size() - SHOWN, report.file());
    }
    return refused.isEmpty();
  }

  static Problem problem(KernelReport.Line line) {
    return Problem.of(
        "DB-K002",
        "%s:%d".formatted(line.file(), line.line()),
        "%s: %s%s"
            .formatted(
                line.what(),
                line.text().replaceAll("\\s+", " "),
                line.source().isEmpty() ? "" : "   (" + line.source() + ")"));
  }

  static KernelReport.Entry entry(KernelReport report, @Nullable String name)
      throws UsageException {
    List<String> names = report.entries().stream().map(KernelReport.Entry::name).toList();
    if (name == null) {
      if (names.size() == 1) {
        return report.entries().getFirst();
      }
      throw new UsageException(
          names.isEmpty()
              ? Problem.of("DB-K003", report.file(), "it has no entry, so nothing can be launched")
                  .fix("mark the kernel .visible .entry (CUDA: extern \"C\" __global__)")
              : Problem.of("DB-K003", report.file(), "it has %d entries".formatted(names.size()))
                  .fix("--entry " + String.join(", or --entry ", names)));
    }
    return report.entries().stream()
        .filter(entry -> entry.name().equals(name))
        .findFirst()
        .orElseThrow(
            () ->
                UsageException.of(
                    "DB-K003",
                    report.file(),
                    "there is no entry '%s'%s".formatted(name, Nearest.suggestion(name, names)),
                    names.isEmpty() ? "it has none" : "it has " + String.join(", ", names)));
  }

  /** PTX files that a command links with the one that it is given. */
  public static final class LinkedFiles {
    @Option(
        names = "--link",
        paramLabel = "FILE",
        description =
            "PTX that is linked with FILE into one module, as the driver does; repeat "
                + "for more, in link order.")
    private List<String> others = new ArrayList<>();

    /** The text of a file, with those that are linked with it behind it. */
    public String ptx(String file) throws UsageException {
      List<PtxFiles.Part> parts = new ArrayList<>();
      parts.add(new PtxFiles.Part(file, KernelFiles.ptx(file), 0));
      for (String other : others) {
        parts.add(new PtxFiles.Part(other, KernelFiles.ptx(other), 0));
      }
      return PtxFiles.join(parts);
    }
  }
}
