package dev.doorbell.experiments.cli.topo;

import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.cli.command.CliCommand;
import dev.doorbell.experiments.cli.command.UsageException;
import dev.doorbell.experiments.topology.machine.MachineDevice;
import dev.doorbell.experiments.topology.machine.MachineMap;
import dev.doorbell.experiments.topology.machine.MachineReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.NoSuchElementException;
import picocli.CommandLine.Parameters;

/** A command over a file that describes a machine. */
abstract class MachineCommand extends CliCommand {
  @Parameters(
      index = "0",
      paramLabel = "FILE",
      description = "NCCL's XML dump, nvidia-smi topo -m, or lstopo's XML.")
  private Path file = Path.of("");

  final Path file() {
    return file;
  }

  final MachineMap machine() throws UsageException, ConfigException {
    try {
      return MachineReader.read(file.toString(), Files.readString(file));
    } catch (IOException e) {
      throw new UsageException(
          Problem.of("DB-T021", file.toString(), "cannot be read: " + e.getClass().getSimpleName())
              .fix("give a text file that describes a machine"));
    }
  }

  static MachineDevice device(MachineMap map, String name) throws UsageException {
    try {
      return map.device(name);
    } catch (NoSuchElementException e) {
      throw new UsageException(
          Problem.of("DB-T022", null, String.valueOf(e.getMessage()))
              .fix("doorbell topo show FILE lists them"));
    }
  }
}
