package dev.doorbell.experiments.cli.hca;

import dev.doorbell.core.adapter.Adapter;
import dev.doorbell.core.fault.FaultPlan;
import dev.doorbell.core.problem.EnvironmentException;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.core.problem.ProblemException;
import dev.doorbell.experiments.cli.command.AdapterOption;
import dev.doorbell.experiments.cli.command.CliCommand;
import dev.doorbell.experiments.cli.command.CommandContext;
import dev.doorbell.experiments.cli.command.ExitCode;
import dev.doorbell.experiments.cli.command.ProgramExit;
import dev.doorbell.experiments.cli.command.UsageException;
import dev.doorbell.experiments.fault.FaultFile;
import dev.doorbell.interop.access.PrivateFolder;
import dev.doorbell.interop.shim.PreloadLibrary;
import dev.doorbell.interop.shim.ShimOptions;
import dev.doorbell.interop.shim.ShimServer;
import dev.doorbell.interop.shim.object.DeviceAddress;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
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
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * Runs a program on served devices. The first command serves them to all who name the same folder,
 * until none has them open.
 */
abstract class ProgramCommand extends CliCommand {
  private static final long POLL_MILLIS = 100;

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

  /** The number of devices that was asked for, or null. */
  abstract @Nullable Integer devices();

  abstract boolean namesGpus();

  abstract ShimOptions withGpus(ShimOptions options) throws EnvironmentException;

  /** Environment variables of programs, beside those of the HCAs. */
  Map<String, String> environment(Path home, Map<String, String> ofHcas)
      throws EnvironmentException {
    return ofHcas;
  }

  /** The program has ended, or no process uses the devices any more. */
  void ended(CommandContext context) {}

  @Override
  protected final boolean takes(List<String> words) {
    boolean all = words.size() > 1 && words.getFirst().equals("--");
    if (all) {
      program = words.subList(1, words.size());
    }
    return all;
  }

  @Override
  public ExitCode run(CommandContext context) throws ProblemException {
    Integer asked = devices();
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

  ExitCode serveAll(
      CommandContext context, Path folder, ShimOptions options, Map<String, String> environment)
      throws ProblemException {
    return end(serve(context, folder, withGpus(options), environment, Redirect.INHERIT));
  }

  final boolean hasProgram() {
    return !program.isEmpty();
  }

  final Adapter adapter() throws UsageException {
    return AdapterOption.parseServed("--nic", nic == null ? "cx7" : nic);
  }

  /** Refuses an option whose value is not {@code legal}. */
  static void require(boolean holds, String option, String legal) throws UsageException {
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
    Integer asked = devices();
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
  final int serve(
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
