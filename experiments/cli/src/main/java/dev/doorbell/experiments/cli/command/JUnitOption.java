package dev.doorbell.experiments.cli.command;

import dev.doorbell.experiments.results.print.JUnitXml;
import dev.doorbell.experiments.run.Disk;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** {@code --junit FILE} of commands that end in verdicts. */
public final class JUnitOption {
  @Option(
      names = "--junit",
      paramLabel = "FILE",
      description = "Write the verdicts as JUnit XML, for continuous integration.")
  private @Nullable Path file;

  /** Writes the file where one was asked for. */
  public void write(String suite, List<JUnitXml.Case> cases) throws UsageException {
    Path target = file;
    if (target == null) {
      return;
    }
    try {
      new Disk().replace(target, JUnitXml.text(suite, cases).getBytes(StandardCharsets.UTF_8));
    } catch (IOException e) {
      throw UsageException.wrong(
          "--junit " + target,
          "it cannot be written: " + e.getMessage(),
          "name a file in a folder that exists");
    }
  }
}
