package dev.doorbell.experiments.cli.kernel;

import dev.doorbell.core.agent.PtxFiles;
import dev.doorbell.experiments.cli.command.UsageException;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Option;

/** PTX files that a command links with the one that it is given. */
public final class LinkedFiles {
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
