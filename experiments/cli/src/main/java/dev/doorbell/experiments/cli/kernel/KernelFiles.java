package dev.doorbell.experiments.cli.kernel;

import dev.doorbell.core.agent.PtxFiles;
import dev.doorbell.core.problem.Nearest;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.cli.command.UsageException;
import dev.doorbell.experiments.workbench.kernel.KernelWorkbench.KernelReport;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import picocli.CommandLine.Option;

/** Files that commands on kernels read, and what is said when they cannot. */
final class KernelFiles {
  private KernelFiles() {}

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

  private static String reason(String file, Exception e) {
    return switch (e) {
      case NoSuchFileException _ -> "there is no such file";
      case InvalidPathException _ -> "this cannot be the name of a file";
      default -> Files.isDirectory(Path.of(file)) ? "this is a folder" : "it cannot be read";
    };
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
