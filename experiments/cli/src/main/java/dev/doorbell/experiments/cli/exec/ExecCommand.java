package dev.doorbell.experiments.cli.exec;

import dev.doorbell.core.adapter.Adapter;
import dev.doorbell.core.fabric.explore.model.Policy;
import dev.doorbell.core.fabric.timed.machine.Topology;
import dev.doorbell.core.fault.FaultPlan;
import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.core.problem.EnvironmentException;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.core.problem.ProblemException;
import dev.doorbell.experiments.cli.command.AdapterOption;
import dev.doorbell.experiments.cli.command.CliCommand;
import dev.doorbell.experiments.cli.command.CommandContext;
import dev.doorbell.experiments.cli.command.ExitCode;
import dev.doorbell.experiments.cli.command.JUnitOption;
import dev.doorbell.experiments.cli.command.ProgramExit;
import dev.doorbell.experiments.cli.command.UsageException;
import dev.doorbell.experiments.cli.explore.ExploredProgram;
import dev.doorbell.experiments.fault.FaultFile;
import dev.doorbell.experiments.topology.TopologyFile;
import dev.doorbell.experiments.workbench.programs.ExploredRuns;
import dev.doorbell.experiments.workbench.programs.TimedPrograms;
import dev.doorbell.interop.access.PrivateFolder;
import dev.doorbell.interop.shim.CudaLibraries;
import dev.doorbell.interop.shim.PreloadLibrary;
import dev.doorbell.interop.shim.ShimOptions;
import dev.doorbell.interop.shim.ShimServer;
import dev.doorbell.interop.shim.client.ServedWorld;
import dev.doorbell.interop.shim.gpu.ProgramGpus;
import dev.doorbell.interop.shim.object.DeviceAddress;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

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
public final class ExecCommand extends CliCommand {
  private static final long POLL_MILLIS = 100;
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

  @Option(
      names = "--address",
      paramLabel = "ADDRESS",
      split = ",",
      description =
          "IP addresses of this machine for mlx5_0, mlx5_1, ..., beside 127.0.0.1, 127.0.0.2, ...:"
              + " GIDs, and what rdma_cm finds them by.")
  private List<String> addresses = new ArrayList<>();

  @Option(
      names = "--faults",
      paramLabel = "FILE",
      description = "A fault plan for their packets; device mlx5_N is rank N of it.")
  private @Nullable Path faults;

  @Option(
      names = "--pcap",
      paramLabel = "FILE",
      description = "Capture the packets between them; a new file.")
  private @Nullable Path pcap;

  @Option(
      names = "--pcap-qp",
      paramLabel = "NUMBER",
      split = ",",
      description = "Capture the packets of these queue pairs alone, from or to; 0x100 or 256.")
  private List<String> capturedQueuePairs = new ArrayList<>();

  @Option(
      names = "--nic",
      paramLabel = "NAME|FILE",
      description = "What the devices promise (docs/adapters.md); cx7 unless given.")
  private @Nullable String nic;

  @Option(
      names = "--at",
      paramLabel = "FOLDER",
      description =
          "Where the devices are served: a folder that only the user can enter, of the user's own"
              + " unless given. What is made there is deleted at the end.")
  private @Nullable Path at;

  @Parameters(paramLabel = "PROGRAM ARGUMENTS", description = "After '--'.")
  private List<String> program = new ArrayList<>();

  @Spec private @Nullable CommandSpec spec;

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
        explore == null || (!program.isEmpty() && (gpus == null || gpus > 0)),
        "--explore",
        "for a program with GPUs, named after '--'");
    require(explore == null || machine == null, "--machine", "without --explore");
    require(
        !realGpus || ((gpus == null || gpus == 0) && explore == null && machine == null),
        "--real-gpus",
        "without emulated GPUs, --explore and --machine");
    timed = machine == null ? null : timed(machine);
    return serve(context);
  }

  private ExitCode serve(CommandContext context) throws ProblemException {
    Integer asked = hcas;
    int wanted = asked == null ? 1 : asked;
    require(
        wanted >= 1 && wanted <= ShimServer.MAX_DEVICES,
        "--hcas",
        "1 to " + ShimServer.MAX_DEVICES);
    List<DeviceAddress> named = addresses(wanted);
    Set<Integer> captured = captured();
    FaultPlan plan = faults == null ? FaultPlan.NONE : FaultFile.load(faults);
    Adapter adapter = adapter();
    Path place = at == null ? open(PrivateFolder.ofUser()).resolve("exec") : at;
    boolean existed = Files.exists(place, LinkOption.NOFOLLOW_LINKS);
    Path folder = open(place);
    Path home = Path.of(System.getProperty("doorbell.home", "."));
    Path library =
        PreloadLibrary.build(
            home.resolve("host-runtime/uverbs-shim"), home.resolve("target/uverbs-shim"));
    Map<String, String> environment =
        environment(
            home,
            PreloadLibrary.environment(
                library, folder, System.getenv().getOrDefault("LD_PRELOAD", "")));
    if (ShimServer.isServed(folder)) {
      if (program.isEmpty()) {
        throw new UsageException(
            Problem.of("DB-U003", folder.toString(), "devices are served there already")
                .fix("name a program after '--', or another folder with --at"));
      }
      requireSame(folder);
      return end(execute(context, environment, Redirect.INHERIT, () -> true));
    }
    try {
      ShimOptions options =
          new ShimOptions(wanted, named, adapter, plan, pcap).withCaptured(captured);
      return serveAll(context, folder, options, environment);
    } finally {
      if (!existed) {
        deleteEmpty(folder);
      }
      if (at == null) {
        deleteEmpty(PrivateFolder.ofUser());
      }
    }
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

  private ExitCode serveAll(
      CommandContext context, Path folder, ShimOptions options, Map<String, String> environment)
      throws ProblemException {
    Integer runs = explore;
    if (runs == null) {
      return end(serve(context, folder, withGpus(options), environment, Redirect.INHERIT));
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

  private boolean namesGpus() {
    return (gpus != null && gpus > 0) || realGpus || missing || explore != null || machine != null;
  }

  private ShimOptions withGpus(ShimOptions options) throws EnvironmentException {
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

  private Map<String, String> environment(Path home, Map<String, String> ofHcas)
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

  private void ended(CommandContext context) {
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

  @Override
  protected boolean takes(List<String> words) {
    boolean all = words.size() > 1 && words.getFirst().equals("--");
    if (all) {
      program = words.subList(1, words.size());
    }
    return all;
  }

  private Adapter adapter() throws UsageException {
    return AdapterOption.parseServed("--nic", nic == null ? "cx7" : nic);
  }

  /** Refuses an option whose value is not {@code legal}. */
  private static void require(boolean holds, String option, String legal) throws UsageException {
    if (!holds) {
      throw new UsageException(Problem.of("DB-U003", option, "it is " + legal));
    }
  }

  private Set<Integer> captured() throws UsageException {
    require(capturedQueuePairs.isEmpty() || pcap != null, "--pcap-qp", "for --pcap");
    Set<Integer> numbers = new HashSet<>();
    for (String text : capturedQueuePairs) {
      boolean legal = text.matches("0x[0-9a-fA-F]{1,6}|[0-9]{1,8}");
      require(legal, "--pcap-qp " + text, "a number such as 0x100 or 256");
      numbers.add(Integer.decode(text));
    }
    return numbers;
  }

  private List<DeviceAddress> addresses(int most) throws UsageException {
    require(addresses.size() <= most, "--address", "at most one for each device");
    List<DeviceAddress> parsed = new ArrayList<>();
    for (String address : addresses) {
      try {
        parsed.add(DeviceAddress.parse(address));
      } catch (IllegalArgumentException e) {
        throw new UsageException(
            Problem.of("DB-U003", "--address " + address, String.valueOf(e.getMessage()))
                .fix("name an address of this machine in digits; 'ip addr' lists them"));
      }
    }
    return parsed;
  }

  /** Devices that are served already keep the options of the first {@code exec}. */
  private void requireSame(Path folder) throws UsageException {
    int served = ShimServer.servedDevices(folder);
    Integer asked = hcas;
    String what = null;
    if (asked != null && asked != served) {
      what = "%d device(s) are served there, not %d".formatted(served, asked);
    } else if (faults != null
        || pcap != null
        || nic != null
        || namesGpus()
        || !addresses.isEmpty()) {
      what =
          "devices are served there already, with promises, addresses, faults, capture and GPUs of"
              + " their own";
    }
    if (what != null) {
      throw new UsageException(
          Problem.of("DB-U003", folder.toString(), what)
              .fix(
                  "leave out %s, or name another folder with --at"
                      .formatted(String.join(", ", typed()))));
    }
  }

  /** The options of the command line, but for {@code --at}. */
  private List<String> typed() {
    return Objects.requireNonNull(spec).commandLine().getParseResult().matchedOptions().stream()
        .map(OptionSpec::longestName)
        .filter(name -> !name.equals("--at"))
        .distinct()
        .toList();
  }

  /** The folder, which only this user can enter: who could write there could change what is run. */
  private static Path open(Path folder) throws EnvironmentException {
    try {
      return PrivateFolder.open(folder);
    } catch (IOException e) {
      throw new EnvironmentException(
          Problem.of(
                  "DB-E049", folder.toString(), "devices cannot be served here: " + e.getMessage())
              .fix("name a folder of your own with --at, of mode 0700 or one that does not exist"));
    }
  }

  private static void deleteEmpty(Path folder) {
    try {
      Files.deleteIfExists(folder);
    } catch (IOException e) {
      // Another process uses it.
    }
  }

  private static ExitCode end(int status) {
    if (status != 0) {
      throw new ProgramExit(status);
    }
    return ExitCode.OK;
  }

  /** Serves while the program runs, and then until all programs have closed their devices. */
  private int serve(
      CommandContext context,
      Path folder,
      ShimOptions options,
      Map<String, String> environment,
      Redirect output)
      throws EnvironmentException {
    try (ShimServer server = ShimServer.open(folder, options)) {
      AtomicBoolean programEnded = new AtomicBoolean();
      BooleanSupplier stop =
          () ->
              context.interruption().requested()
                  || (programEnded.get() && server.connections() == 0);
      FutureTask<Boolean> serving = new FutureTask<>(() -> server.run(stop), true);
      Thread thread = new Thread(serving, "hca");
      thread.start();
      try {
        if (program.isEmpty()) {
          environment.forEach((name, value) -> context.printf("export %s=%s%n", name, value));
          context.out().flush();
          return 0;
        }
        return execute(context, environment, output, thread::isAlive);
      } finally {
        programEnded.set(!program.isEmpty());
        join(thread);
        requireServed(serving);
        ended(context);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void requireServed(FutureTask<Boolean> serving) {
    if (serving.state() == Future.State.FAILED) {
      throw new IllegalStateException(
          "the server of the devices has failed", serving.exceptionNow());
    }
  }

  private static void join(Thread thread) {
    boolean interrupted = false;
    while (true) {
      try {
        thread.join();
        break;
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /** Runs the program until it ends; stops it when the server does not run any more. */
  private int execute(
      CommandContext context,
      Map<String, String> environment,
      Redirect output,
      BooleanSupplier served)
      throws EnvironmentException {
    ProcessBuilder builder = new ProcessBuilder(program).inheritIO();
    if (!output.equals(Redirect.INHERIT)) {
      builder.redirectErrorStream(true).redirectOutput(output);
    }
    builder.environment().putAll(environment);
    Process process;
    try {
      process = builder.start();
    } catch (IOException e) {
      throw new EnvironmentException(
          Problem.of(
                  "DB-E050", program.getFirst(), "the program cannot be started: " + e.getMessage())
              .fix("check its name; ibverbs-utils has ibv_devinfo, perftest has ib_write_bw"));
    }
    try {
      while (!process.waitFor(POLL_MILLIS, TimeUnit.MILLISECONDS)) {
        if (context.interruption().requested() || !served.getAsBoolean()) {
          process.destroy();
        }
      }
    } catch (InterruptedException e) {
      process.destroy();
      Thread.currentThread().interrupt();
    }
    return process.isAlive() ? ExitCode.INTERRUPTED.status() : process.exitValue();
  }
}
