package dev.doorbell.experiments.cli.hca;

import dev.doorbell.core.fabric.explore.model.Policy;
import dev.doorbell.core.fabric.timed.machine.Topology;
import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.core.problem.EnvironmentException;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.core.problem.ProblemException;
import dev.doorbell.experiments.cli.command.CommandContext;
import dev.doorbell.experiments.cli.command.ExitCode;
import dev.doorbell.experiments.cli.command.JUnitOption;
import dev.doorbell.experiments.cli.command.UsageException;
import dev.doorbell.experiments.cli.explore.ExploredProgram;
import dev.doorbell.experiments.topology.TopologyFile;
import dev.doorbell.experiments.workbench.programs.ExploredRuns;
import dev.doorbell.experiments.workbench.programs.TimedPrograms;
import dev.doorbell.interop.shim.CudaLibraries;
import dev.doorbell.interop.shim.ShimOptions;
import dev.doorbell.interop.shim.ShimServer;
import dev.doorbell.interop.shim.client.ServedWorld;
import dev.doorbell.interop.shim.gpu.ProgramGpus;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@CommandLine.Command(
    addMethodSubcommands = false,
    header = {
      "Runs a program of CUDA and RDMA, unmodified, with neither GPU nor NIC. See docs/exec.md.",
      "",
      "  doorbell exec -- ./add                    after nvcc -cudart shared -o add add.cu",
      "  doorbell exec --gpus 2 --hcas 2 -- mpirun -n 2 ./all_reduce_perf -c 1",
      "  doorbell exec --gpus 0 -- ibv_devinfo -v",
      "  doorbell exec --machine h200-cx7 -- ./put in the virtual time of a machine",
      "  doorbell exec --explore 20 -- ./put       against every order that PTX and PCIe allow",
      "",
      "Its kernels run on the PTX VM; link the CUDA runtime with -cudart shared.",
      "The first one serves GPUs and HCAs to all who name the same folder, until none has them"
          + " open.",
      "Ends with the program's exit status. Without a program: serves until it is interrupted.",
      ""
    })
public final class ExecCommand extends ProgramCommand {
  private static final int MOST_GPUS = 16;
  private static final long NANOS_PER_SECOND = 1_000_000_000L;

  @Option(
      names = "--gpus",
      paramLabel = "N",
      description = "How many GPUs each program sees; 1 unless given, 0 for none.")
  private @Nullable Integer gpus;

  @Option(
      names = "--hcas",
      paramLabel = "N",
      description = "How many HCAs, mlx5_0 to mlx5_N-1; 1 unless given.")
  private @Nullable Integer hcas;

  @Option(
      names = "--real-gpus",
      description =
          "No emulated GPUs: the HCAs reach memory of this machine's GPUs (peer memory); takes memory"
              + " of each GPU in use.")
  private boolean realGpus;

  @Option(
      names = "--missing",
      description = "At the end, list functions that programs called and that are not served.")
  private boolean missing;

  @Option(
      names = "--timeout",
      paramLabel = "SECONDS",
      description =
          "Longest time of a kernel; 600 unless given, with --explore 10 in which nothing"
              + " else happens.")
  private @Nullable Long seconds;

  @Option(
      names = "--machine",
      paramLabel = "NAME|FILE",
      description =
          "While kernels run, time is that of this topology: clocks of kernels and events tell it.")
  private @Nullable String machine;

  @Option(
      names = "--explore",
      paramLabel = "N",
      description =
          "Run the program N times against an adversary that chooses every order that PTX and PCIe"
              + " allow, and report what nothing orders.")
  private @Nullable Integer explore;

  @Option(
      names = "--seed",
      paramLabel = "S",
      description = "The seed of the first run of --explore; 1 unless given.")
  private @Nullable Long seed;

  @Option(
      names = "--policy",
      description =
          "What orders stores for an HCA under --explore, as of 'explore'; vendor unless"
              + " given.")
  private @Nullable Policy policy;

  @Mixin private JUnitOption junit = new JUnitOption();

  private ProgramGpus served = ProgramGpus.none();
  private @Nullable ServedWorld timed;

  /** Prepares the server while the options are read. */
  public ExecCommand() {
    ShimServer.prepare();
  }

  @Override
  public ExitCode run(CommandContext context) throws ProblemException {
    require(gpus == null || (gpus >= 0 && gpus <= MOST_GPUS), "--gpus", "0 to " + MOST_GPUS);
    require(seconds == null || seconds >= 1, "--timeout", "at least 1");
    require(explore == null || explore >= 1, "--explore", "at least 1, before a program");
    require(
        explore != null || (seed == null && policy == null), "--seed, --policy", "for --explore");
    require(
        explore == null || (hasProgram() && (gpus == null || gpus > 0)),
        "--explore",
        "for a program with GPUs, named after '--'");
    require(explore == null || machine == null, "--machine", "without --explore");
    require(
        !realGpus || (gpus == null && explore == null && machine == null),
        "--real-gpus",
        "without --gpus, --explore and --machine");
    timed = machine == null ? null : timed(machine);
    return super.run(context);
  }

  private ServedWorld timed(String name) throws UsageException {
    try {
      Topology topology = TopologyFile.load(name);
      require(gpus == null || gpus > 0, "--gpus", "1 to %d there".formatted(MOST_GPUS));
      return new TimedPrograms(topology, gpus == null ? 1 : gpus);
    } catch (ConfigException e) {
      throw new UsageException(
          Problem.of("DB-U003", "--machine " + name, String.valueOf(e.getMessage()))
              .fix("'doorbell list' has the topologies"));
    }
  }

  private ProgramGpus gpus() {
    long most = seconds != null ? seconds : explore != null ? 10 : 600;
    return ProgramGpus.of(gpus == null ? 1 : gpus, most * NANOS_PER_SECOND);
  }

  @Override
  ExitCode serveAll(
      CommandContext context, Path folder, ShimOptions options, Map<String, String> environment)
      throws ProblemException {
    Integer runs = explore;
    if (runs == null) {
      return super.serveAll(context, folder, options, environment);
    }
    require(
        runs == 1 || options.capture() == null,
        "--pcap",
        "for one run of --explore: --explore 1 --seed S");
    ExploredProgram explored =
        new ExploredProgram(policy == null ? Policy.VENDOR : policy, adapter());
    long first = seed == null ? 1 : seed;
    try {
      for (long at = first; at < first + runs; at++) {
        ExploredRuns.Run run = explored.begin(at);
        served = gpus().in(run);
        Path said = Files.createTempFile("doorbell", ".txt");
        boolean shown = at == first;
        int status =
            serve(
                context,
                folder,
                options.withEmulated(served),
                environment,
                shown ? Redirect.INHERIT : Redirect.to(said.toFile()));
        if (context.interruption().requested()) {
          Files.delete(said);
          return ExitCode.INTERRUPTED;
        }
        if (status != 0 && !shown) {
          Files.readAllLines(said).forEach(context.err()::println);
        }
        Files.delete(said);
        explored.ended(run, at, status);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    junit.write("doorbell exec", explored.cases());
    context.out().print(explored.text());
    return explored.verdict();
  }

  @Override
  @Nullable Integer devices() {
    return hcas;
  }

  @Override
  boolean namesGpus() {
    return (gpus != null && gpus > 0) || realGpus || missing || explore != null || machine != null;
  }

  @Override
  ShimOptions withGpus(ShimOptions options) throws EnvironmentException {
    if (realGpus) {
      return options.withGpus("--real-gpus");
    }
    try {
      served = timed == null ? gpus() : gpus().in(timed);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return options.withEmulated(served);
  }

  @Override
  Map<String, String> environment(Path home, Map<String, String> ofHcas)
      throws EnvironmentException {
    if (realGpus || (gpus != null && gpus == 0)) {
      return ofHcas;
    }
    Path folder =
        CudaLibraries.build(
            home.resolve("host-runtime/cuda-shim"), home.resolve("target/cuda-shim"));
    Map<String, String> all = new LinkedHashMap<>(ofHcas);
    all.putAll(
        CudaLibraries.environment(folder, System.getenv().getOrDefault("LD_LIBRARY_PATH", "")));
    return all;
  }

  @Override
  void ended(CommandContext context) {
    if (missing) {
      List<String> names = served.missing();
      String found =
          names.isEmpty()
              ? "every CUDA function that was called is served"
              : "CUDA functions that were called and are not served:";
      context.err().println(found);
      names.forEach(name -> context.err().println("  " + name));
      context.err().flush();
    }
  }
}
