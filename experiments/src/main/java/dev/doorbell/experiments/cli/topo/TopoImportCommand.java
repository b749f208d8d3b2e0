package dev.doorbell.experiments.cli.topo;

import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.cli.command.CommandContext;
import dev.doorbell.experiments.cli.command.ExitCode;
import dev.doorbell.experiments.cli.command.UsageException;
import dev.doorbell.experiments.topology.TopologyException;
import dev.doorbell.experiments.topology.machine.MachineDevice;
import dev.doorbell.experiments.topology.machine.MachineMap;
import dev.doorbell.experiments.topology.machine.MachineTopology;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Option;

/** {@code doorbell topo import FILE -o mine.yaml}. */
@CommandLine.Command(
    header = {
      "Writes a topology for experiments: the machine's links, prices of the nearest topology.",
      "",
      "  doorbell topo import nccl.xml -o mine.yaml",
      "  doorbell run pull-vs-push -s placement=./mine.yaml",
      ""
    })
final class TopoImportCommand extends MachineCommand {
  @Option(names = "-o", paramLabel = "FILE", required = true, description = "The file to write.")
  private Path output = Path.of("");

  @Option(names = "--gpu", paramLabel = "NAME", description = "Its GPU (default: gpu0).")
  private String gpu = "gpu0";

  @Option(names = "--hca", paramLabel = "NAME", description = "Its HCA (default: the nearest).")
  private @Nullable String hca;

  @Override
  public ExitCode run(CommandContext context) throws UsageException, ConfigException {
    MachineMap map = machine();
    MachineDevice from = device(map, gpu);
    MachineDevice to = hca == null ? map.nearestHca(from).orElse(null) : device(map, hca);
    if (to == null) {
      throw new UsageException(
          Problem.of("DB-T022", file().toString(), "there is no HCA in it")
              .fix("a topology needs a GPU and an HCA: dump it where the HCA's driver is loaded"));
    }
    Path name = output.getFileName();
    String word =
        (name == null ? "imported" : name.toString())
            .replaceAll("\\.ya?ml$", "")
            .toLowerCase(Locale.ROOT)
            .replaceAll("[^a-z0-9-]+", "-");
    Path source = file().getFileName();
    try {
      Files.writeString(output, MachineTopology.text(map, from, to, word, String.valueOf(source)));
    } catch (IOException | TopologyException e) {
      throw new UsageException(
          Problem.of("DB-T021", output.toString(), "cannot be written: " + e.getMessage())
              .fix("choose another file with -o"));
    }
    context
        .terminal()
        .out()
        .printf(
            "%s: %s and %s, %s, prices of %s%n",
            output,
            from.name(),
            to.name(),
            map.distance(from, to),
            MachineTopology.base(map.distance(from, to)));
    return ExitCode.OK;
  }
}
