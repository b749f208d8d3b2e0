package dev.doorbell.experiments.cli.paper;

import dev.doorbell.core.problem.ProblemException;
import dev.doorbell.core.problem.Typed;
import dev.doorbell.experiments.cli.command.CliCommand;
import dev.doorbell.experiments.cli.command.CommandContext;
import dev.doorbell.experiments.cli.command.ExitCode;
import dev.doorbell.experiments.cli.command.Json;
import dev.doorbell.experiments.cli.command.UsageException;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SequencedMap;
import java.util.TreeMap;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Parameters;

@CommandLine.Command(
    header = {
      "Makes every run of a paper again in a temporary folder, and compares what is built, byte by"
          + " byte.",
      "",
      "  doorbell paper verify papers/pull-vs-push",
      ""
    })
final class PaperVerifyCommand extends CliCommand {
  @Parameters(paramLabel = "DIR", description = "The paper's folder, with its paper.yaml.")
  private Path folder = Path.of(".");

  @Override
  public ExitCode run(CommandContext context) throws ProblemException {
    Path kept;
    try {
      kept = Files.createTempDirectory("doorbell-paper");
    } catch (IOException e) {
      throw PaperRuns.unwritable(Path.of(System.getProperty("java.io.tmpdir", "/tmp")), e);
    }
    try {
      boolean quiet = common().quiet() || common().json();
      SequencedMap<String, byte[]> built = PaperRuns.build(context, folder, kept, quiet);
      SequencedMap<String, String> differences =
          compare(built, folder.resolve(PaperRuns.GENERATED));
      if (common().json()) {
        Json.print(context, Map.of("files", built.size(), "differences", differences));
      } else {
        report(context.out(), built.size(), differences);
      }
      return differences.isEmpty() ? ExitCode.OK : ExitCode.FAILED;
    } finally {
      PaperRuns.delete(kept);
    }
  }

  private void report(PrintStream out, int files, SequencedMap<String, String> differences) {
    differences.forEach((file, what) -> out.printf("%-9s %s%n", what, file));
    if (!differences.isEmpty()) {
      out.printf(
          Typed.in("%d of %d files are not what the runs give; doorbell paper build %s%n"),
          differences.size(),
          files,
          folder);
    } else if (!common().quiet()) {
      out.printf("%d files are what the runs give, to the byte%n", files);
    }
  }

  /** Returns the files that are not as expected, with a word each. */
  private static SequencedMap<String, String> compare(Map<String, byte[]> built, Path generated)
      throws UsageException {
    SequencedMap<String, String> differences = new LinkedHashMap<>();
    Map<String, byte[]> there = new TreeMap<>();
    if (Files.isDirectory(generated)) {
      try (Stream<Path> files = Files.walk(generated)) {
        for (Path file : files.filter(Files::isRegularFile).toList()) {
          there.put(
              generated.relativize(file).toString().replace('\\', '/'), Files.readAllBytes(file));
        }
      } catch (IOException | UncheckedIOException e) {
        throw PaperRuns.unwritable(generated, new IOException(e.getMessage(), e));
      }
    }
    built.forEach(
        (name, bytes) -> {
          byte[] old = there.remove(name);
          if (old == null) {
            differences.put(name, "missing");
          } else if (!Arrays.equals(old, bytes)) {
            differences.put(name, "differs");
          }
        });
    there.keySet().forEach(name -> differences.put(name, "unknown"));
    return differences;
  }
}
