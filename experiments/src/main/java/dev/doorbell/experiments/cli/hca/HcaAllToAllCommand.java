package dev.doorbell.experiments.cli.hca;

import dev.doorbell.core.fabric.timed.machine.Topology;
import dev.doorbell.core.fault.FaultPlan;
import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.core.problem.EnvironmentException;
import dev.doorbell.experiments.cli.command.ChildProcess;
import dev.doorbell.experiments.cli.command.CliCommand;
import dev.doorbell.experiments.cli.command.CommandContext;
import dev.doorbell.experiments.cli.command.ExitCode;
import dev.doorbell.experiments.cli.command.Json;
import dev.doorbell.experiments.cli.command.UsageException;
import dev.doorbell.experiments.fault.FaultFile;
import dev.doorbell.experiments.topology.TopologyException;
import dev.doorbell.experiments.topology.TopologyFile;
import dev.doorbell.interop.alltoall.AllToAllOptions;
import dev.doorbell.interop.alltoall.AllToAllReport;
import dev.doorbell.interop.alltoall.RemoteAllToAll;
import dev.doorbell.interop.alltoall.VirtualAllToAll;
import dev.doorbell.interop.control.HostPort;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Option;

/** {@code doorbell hca alltoall}. */
@CommandLine.Command(
    header = {
      "Ranks in several processes write to, read from and count at each other; every byte is"
          + " checked.",
      "",
      "  doorbell hca alltoall --messages 100000 --faults lossy.yaml",
      "  doorbell hca alltoall --process 0 --at 127.0.0.1:6000   and, in another terminal,",
      "  doorbell hca alltoall --process 1 --at 127.0.0.1:6000",
      "  doorbell hca alltoall --virtual --seed 7 --faults lossy.yaml",
      "",
      "Without --process it starts the other processes itself. Exits with 1 when a byte is wrong,"
          + " or",
      "an atomic was lost or applied twice.",
      ""
    })
final class HcaAllToAllCommand extends CliCommand {
  private static final long NANOS_PER_SECOND = 1_000_000_000L;
  private static final int ALL = -1;
  private static final String TOPOLOGY = "same-switch";
  private static final int GRACE_SECONDS = 30;

  @Option(names = "--ranks", description = "Ranks of the job; ${DEFAULT-VALUE} unless given.")
  private int ranks = 8;

  @Option(names = "--processes", description = "Processes; ${DEFAULT-VALUE} unless given.")
  private int processes = 2;

  @Option(
      names = "--process",
      paramLabel = "N",
      description = "This process, from 0, where others are started elsewhere; needs --at.")
  private int process = ALL;

  @Option(
      names = "--at",
      paramLabel = "[HOST:]PORT",
      description = "The rendezvous: TCP, held by process 0.")
  private @Nullable String at;

  @Option(
      names = "--messages",
      description = "Of all ranks together, at least; ${DEFAULT-VALUE} unless given.")
  private long messages = 100_000;

  @Option(
      names = "--virtual",
      description =
          "All ranks in this process, in virtual time, over a switch: the same --seed gives the"
              + " same packets at the same times.")
  private boolean virtual;

  @Option(
      names = "--seed",
      description =
          "Of sizes and contents, with --virtual also of faults; ${DEFAULT-VALUE} unless given.")
  private long seed = 1;

  @Option(names = "--faults", paramLabel = "FILE", description = "A fault plan for all packets.")
  private @Nullable Path faults;

  @Option(
      names = "--timeout",
      paramLabel = "SECONDS",
      description = "For the whole job; ${DEFAULT-VALUE} unless given.")
  private int seconds = 600;

  @Override
  public ExitCode run(CommandContext context)
      throws UsageException, ConfigException, EnvironmentException {
    HcaPlace.require(ranks >= 2 && ranks <= 32, "--ranks", "2 to 32");
    HcaPlace.require(processes >= 1 && processes <= ranks, "--processes", "1 to --ranks");
    HcaPlace.require(process >= ALL && process < processes, "--process", "0 to --processes - 1");
    HcaPlace.require(messages >= 1, "--messages", "1 or more");
    HcaPlace.require(seconds >= 1, "--timeout", "1 or more");
    HcaPlace.require(process == ALL || at != null, "--at", "needed with --process");
    HcaPlace.require(
        !virtual || (process == ALL && at == null), "--virtual", "without --process and --at");
    FaultPlan plan = faults == null ? FaultPlan.NONE : FaultFile.load(faults);
    if (virtual) {
      return report(
          context,
          VirtualAllToAll.run(
              options(new HostPort("127.0.0.1", 0), 0, plan),
              topology(),
              context.interruption()::requested));
    }
    if (process != ALL) {
      return report(
          context, participate(context, HcaPlace.endpoint(String.valueOf(at)), process, plan));
    }
    HostPort meeting = at == null ? HcaPlace.privateMeeting() : HcaPlace.endpoint(at);
    List<ChildProcess> others = new ArrayList<>();
    try {
      for (int other = 1; other < processes; other++) {
        others.add(ChildProcess.start(arguments(meeting, other), HcaPlace.environment(meeting)));
      }
      ExitCode own = report(context, participate(context, meeting, 0, plan));
      boolean allRight = own == ExitCode.OK;
      for (ChildProcess other : others) {
        allRight &= other.await(GRACE_SECONDS) == 0;
      }
      context
          .terminal()
          .out()
          .println(
              allRight
                  ? "every process: all bytes right, nothing lost, nothing applied twice"
                  : "FAILED in at least one process");
      return allRight ? ExitCode.OK : ExitCode.FAILED;
    } finally {
      others.forEach(ChildProcess::close);
    }
  }

  private List<String> arguments(HostPort meeting, int other) {
    List<String> words =
        new ArrayList<>(
            List.of(
                "hca",
                "alltoall",
                "--quiet",
                "--process=" + other,
                "--at=" + meeting,
                "--ranks=" + ranks,
                "--processes=" + processes,
                "--messages=" + messages,
                "--seed=" + seed,
                "--timeout=" + seconds));
    if (faults != null) {
      words.add("--faults=" + faults.toAbsolutePath());
    }
    return words;
  }

  private AllToAllReport participate(
      CommandContext context, HostPort meeting, int which, FaultPlan plan)
      throws EnvironmentException {
    return RemoteAllToAll.run(options(meeting, which, plan), context.interruption()::requested);
  }

  private static Topology topology() {
    try {
      return TopologyFile.load(TOPOLOGY);
    } catch (TopologyException e) {
      throw new IllegalStateException("a built-in topology cannot be read", e);
    }
  }

  private AllToAllOptions options(HostPort meeting, int which, FaultPlan plan) {
    return new AllToAllOptions(
        meeting, which, processes, ranks, messages, seed, plan, seconds * NANOS_PER_SECOND);
  }

  private ExitCode report(CommandContext context, AllToAllReport report) {
    boolean missed = report.faults().stream().anyMatch(count -> count.missed());
    if (common().json()) {
      Json.print(context, report);
    } else if (!common().quiet()) {
      context
          .terminal()
          .out()
          .printf(
              "%,d messages sent by this process, %,d of them atomics, in %s%n"
                  + "bytes wrong %d, atomics lost or applied twice %d%n"
                  + "packets out %,d, in %,d, dropped by the %s %,d%n",
              report.messages(),
              report.atomics(),
              virtual
                  ? "%.3f ms of virtual time".formatted(report.nanos() / 1e6)
                  : "%.1f s".formatted(report.nanos() / 1e9),
              report.bytesWrong(),
              report.atomicsWrong(),
              report.framesOut(),
              report.framesIn(),
              virtual ? "switch" : "system",
              report.kernelDrops());
      if (report.digest() != null) {
        context.terminal().out().printf("digest of all packets %s%n", report.digest());
      }
      report
          .faults()
          .forEach(
              count ->
                  context
                      .terminal()
                      .out()
                      .printf(
                          "fault '%s': %,d of %,d packets%s%n",
                          count.fault().text(),
                          count.fired(),
                          count.events(),
                          count.missed() ? ", and it must fire" : ""));
    }
    return report.isRight() && !missed ? ExitCode.OK : ExitCode.FAILED;
  }
}
