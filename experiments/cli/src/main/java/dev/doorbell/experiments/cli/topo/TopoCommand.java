package dev.doorbell.experiments.cli.topo;

import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.core.problem.ProblemException;
import dev.doorbell.doctor.topology.PciDistance;
import dev.doorbell.experiments.cli.command.CliCommand;
import dev.doorbell.experiments.cli.command.CommandContext;
import dev.doorbell.experiments.cli.command.CommandGroup;
import dev.doorbell.experiments.cli.command.ExitCode;
import dev.doorbell.experiments.cli.command.UsageException;
import dev.doorbell.experiments.pasted.PastedText;
import dev.doorbell.experiments.topology.machine.AnalyticalNetwork;
import dev.doorbell.experiments.topology.machine.ImportedTopology;
import dev.doorbell.experiments.topology.machine.MachineMap;
import dev.doorbell.experiments.topology.machine.MachineMap.MachineDevice;
import dev.doorbell.experiments.topology.machine.MachineReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.NoSuchElementException;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@CommandLine.Command(
    header = {
      "Reads machines as NCCL, nvidia-smi and lstopo describe them. See docs/topologies.md.",
      "",
      "  doorbell topo import nccl.xml -o mine.yaml         a topology for experiments",
      "  doorbell explain topo.txt                          devices, links, distances, what is odd",
      "",
      "FILE is NCCL's dump or input (NCCL_TOPO_DUMP_FILE, NCCL_TOPO_FILE), its graph in a log, the"
          + " text",
      "of nvidia-smi topo -m, rocm-smi --showtopo or lspci -tv, or lstopo --of xml; other text"
          + " around it",
      "is passed over."
    })
public final class TopoCommand extends CommandGroup {
  public TopoCommand() {
    super("topo", "the machine", List.of(new Action("import", TopoImportCommand::new)));
  }

  @CommandLine.Command(
      header = {
        "Writes a topology for experiments: the machine's links, prices of the nearest topology.",
        "",
        "  doorbell topo import nccl.xml -o mine.yaml",
        "  doorbell run pull-vs-push -s placement=./mine.yaml",
        "",
        "A network of ASTRA-sim's analytical back end is a machine's NVLink and network.",
        ""
      })
  private static final class TopoImportCommand extends CliCommand {
    @Parameters(
        index = "0",
        paramLabel = "FILE",
        description =
            "NCCL's XML dump, nvidia-smi topo -m, lstopo's XML, or a network of ASTRA-sim.")
    private Path file = Path.of("");

    @Option(names = "-o", paramLabel = "FILE", required = true, description = "The file to write.")
    private Path output = Path.of("");

    @Option(names = "--gpu", paramLabel = "NAME", description = "Its GPU (default: gpu0).")
    private String gpu = "gpu0";

    @Option(names = "--hca", paramLabel = "NAME", description = "Its HCA (default: the nearest).")
    private @Nullable String hca;

    @Override
    public ExitCode run(CommandContext context) throws ProblemException {
      Path name = output.getFileName();
      String word =
          (name == null ? "imported" : name.toString())
              .replaceAll("\\.ya?ml$", "")
              .toLowerCase(Locale.ROOT)
              .replaceAll("[^a-z0-9-]+", "-");
      String source = String.valueOf(file.getFileName());
      String description = text();
      if (AnalyticalNetwork.is(description)) {
        AnalyticalNetwork network = AnalyticalNetwork.read(file.toString(), description);
        write(context, ImportedTopology.text(network, word, source));
        say(context, network.toString(), ImportedTopology.base(network));
        return ExitCode.OK;
      }
      MachineMap map = machine();
      MachineDevice from = device(map, gpu);
      MachineDevice to = priced(map, from);
      PciDistance distance = map.distance(from, to);
      write(context, ImportedTopology.text(map, from, to, word, source));
      say(
          context,
          "%s and %s, %s".formatted(from.name(), to.name(), distance),
          ImportedTopology.base(distance));
      return ExitCode.OK;
    }

    private MachineDevice priced(MachineMap map, MachineDevice from) throws UsageException {
      MachineDevice to = hca == null ? map.nearestHca(from).orElse(null) : device(map, hca);
      if (to == null) {
        throw new UsageException(
            Problem.of("DB-T022", file.toString(), "there is no HCA in it")
                .fix(
                    "a topology needs a GPU and an HCA: dump it where the HCA's driver is loaded"));
      }
      if (ImportedTopology.isWithoutPrices(to)) {
        throw new UsageException(
            Problem.of(
                    "DB-T022",
                    file.toString(),
                    "%s is an EFA, whose prices no topology has".formatted(to.name()))
                .fix("choose another HCA with --hca, or copy a topology and give it its prices"));
      }
      return to;
    }

    private void write(CommandContext context, String text) throws UsageException {
      try {
        context.disk().replace(output, text.getBytes(StandardCharsets.UTF_8));
      } catch (IOException e) {
        throw new UsageException(
            Problem.of("DB-T021", output.toString(), "cannot be written: " + e.getMessage())
                .fix("choose another file with -o"));
      }
    }

    private void say(CommandContext context, String what, String base) {
      context.printf("%s: %s, prices of %s%n", output, what, base);
    }

    private String text() throws UsageException {
      try {
        return Files.readString(file);
      } catch (IOException e) {
        throw new UsageException(
            Problem.of(
                    "DB-T021", file.toString(), "cannot be read: " + e.getClass().getSimpleName())
                .fix("give a text file that describes a machine"));
      }
    }

    private MachineMap machine() throws ProblemException {
      String text = text();
      try {
        return MachineReader.read(file.toString(), text);
      } catch (ConfigException e) {
        // The description may lie inside of other text, such as a log or a mail.
        List<PastedText.Part> parts =
            PastedText.of(text).parts().stream()
                .filter(part -> part.kind() == PastedText.Kind.MACHINE)
                .filter(part -> part.lines().size() < text.lines().count())
                .toList();
        if (parts.isEmpty()) {
          throw e;
        }
        return MachineReader.read(file.toString(), parts.getFirst().text());
      }
    }

    private static MachineDevice device(MachineMap map, String name) throws UsageException {
      try {
        return map.device(name);
      } catch (NoSuchElementException e) {
        throw new UsageException(
            Problem.of("DB-T022", null, String.valueOf(e.getMessage()))
                .fix("doorbell explain FILE lists them"));
      }
    }
  }
}
