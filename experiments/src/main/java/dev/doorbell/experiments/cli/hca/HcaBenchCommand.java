package dev.doorbell.experiments.cli.hca;

import dev.doorbell.core.problem.EnvironmentException;
import dev.doorbell.experiments.cli.command.ChildProcess;
import dev.doorbell.experiments.cli.command.CliCommand;
import dev.doorbell.experiments.cli.command.CommandContext;
import dev.doorbell.experiments.cli.command.ExitCode;
import dev.doorbell.experiments.cli.command.Json;
import dev.doorbell.experiments.cli.command.TextTable;
import dev.doorbell.experiments.cli.command.UsageException;
import dev.doorbell.experiments.stats.Summary;
import dev.doorbell.interop.control.ControlPlace;
import dev.doorbell.interop.serve.BenchOptions;
import dev.doorbell.interop.serve.BenchOptions.Load;
import dev.doorbell.interop.serve.BenchReport;
import dev.doorbell.interop.serve.BenchReport.Writes;
import dev.doorbell.interop.serve.HcaBench;
import dev.doorbell.interop.serve.IdleCost;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code doorbell hca bench}. */
@CommandLine.Command(
    header = {
      "Measures WRITEs from this process to an HCA of another one, over UDP.",
      "",
      "  doorbell hca bench                     starts the other process itself",
      "  doorbell hca bench --at 10.0.0.2:5000  uses the one that is served there",
      "",
      "Emulated: it says how fast Doorbell's software HCA is, nothing about a NIC.",
      ""
    })
final class HcaBenchCommand extends CliCommand {
  private static final long MINUTE = 60_000_000_000L;
  private static final long MIN_MESSAGES = 256;
  private static final long ROUND_BYTES = 512L << 20;
  private static final int MAX_MESSAGES = 200_000;
  private static final long MAX_BYTES_OUTSTANDING = 16 << 20;
  private static final int MAX_OUTSTANDING = 256;
  private static final int MAX_IDLE = 30_000;
  private static final int SPARE_QUEUE_PAIRS = 16;
  private static final int SERVED_MEBIBYTES = 1024;

  @Option(
      names = "--at",
      paramLabel = "PLACE",
      description = "A served HCA: its PORT, its socket file, or HOST:PORT with a token.")
  private @Nullable String at;

  @Mixin private TokenOption token = new TokenOption();

  @Option(
      names = "--sizes",
      split = ",",
      description = "Bytes of a WRITE; ${DEFAULT-VALUE} unless given.")
  private int[] sizes = {8, 4096, 65_536, 1 << 20};

  @Option(names = "--rounds", description = "Rounds that count; ${DEFAULT-VALUE} unless given.")
  private int rounds = 9;

  @Option(
      names = "--idle",
      paramLabel = "N",
      description = "Queue pairs that are open beside it and do nothing; their cost is printed.")
  private int idle;

  /** A line of the result. */
  private record Row(
      int bytes,
      int rounds,
      double medianPerSecond,
      double slowest,
      double fastest,
      double gigabytesPerSecond,
      double cpuNanos,
      double peerCpuNanos,
      long kernelDrops) {}

  @Override
  public ExitCode run(CommandContext context) throws UsageException, EnvironmentException {
    for (int bytes : sizes) {
      HcaPlace.require(bytes >= 1 && bytes <= 1 << 24, "--sizes", "1 to 16777216 bytes each");
    }
    HcaPlace.require(rounds >= 3 && rounds <= 1000, "--rounds", "3 to 1000");
    HcaPlace.require(idle >= 0 && idle <= MAX_IDLE, "--idle", "0 to " + MAX_IDLE);
    if (at != null) {
      return measure(context, HcaPlace.control(at, token));
    }
    try (ChildProcess served =
        ChildProcess.start(
            List.of(
                "hca",
                "serve",
                "--queue-pairs=" + (idle + SPARE_QUEUE_PAIRS),
                "--memory=" + SERVED_MEBIBYTES,
                "--with",
                String.valueOf(ProcessHandle.current().pid())))) {
      try {
        return measure(context, HcaProcesses.control(served));
      } catch (EnvironmentException e) {
        throw HcaProcesses.explain(e, served);
      }
    }
  }

  private ExitCode measure(CommandContext context, ControlPlace served)
      throws EnvironmentException {
    List<Load> loads = Arrays.stream(sizes).mapToObj(HcaBenchCommand::load).toList();
    BenchReport report = HcaBench.run(new BenchOptions(served, loads, rounds, MINUTE, idle));
    List<Row> rows = report.writes().stream().map(HcaBenchCommand::row).toList();
    IdleCost cost = report.idle();
    if (common().json()) {
      Map<String, Object> result = new LinkedHashMap<>();
      result.put("basis", "emulated");
      result.put("writes", rows);
      result.put("idle", cost);
      Json.print(context, result);
      return ExitCode.OK;
    }
    TextTable table =
        new TextTable()
            .right("bytes")
            .right("WRITE/s, median")
            .right("slowest round")
            .right("fastest")
            .right("GB/s")
            .right("CPU ns here")
            .right("there")
            .right("drops");
    for (Row row : rows) {
      table.row(
          List.of(
              String.valueOf(row.bytes),
              "%,.0f".formatted(row.medianPerSecond),
              "%,.0f".formatted(row.slowest),
              "%,.0f".formatted(row.fastest),
              "%.2f".formatted(row.gigabytesPerSecond),
              "%,.0f".formatted(row.cpuNanos),
              "%,.0f".formatted(row.peerCpuNanos),
              String.valueOf(row.kernelDrops)));
    }
    context
        .terminal()
        .out()
        .printf(
            "RDMA WRITEs to another process over UDP, %d rounds each, emulated;%nCPU time a WRITE,"
                + " of the thread that sends and of the one that serves: medians%n%n%s",
            rounds, table.text());
    if (cost != null) {
      context
          .terminal()
          .out()
          .printf(
              "%n%,d idle queue pairs at each end: %,d bytes of heap and %,d of emulated memory"
                  + " each;%nthe thread that serves uses %.2f %% of a processor while nothing is"
                  + " sent, %.2f %% without them%n",
              cost.queuePairs(),
              cost.heapBytes(),
              cost.memoryBytes(),
              100 * cost.peerCpu(),
              100 * cost.peerCpuBefore());
    }
    return ExitCode.OK;
  }

  private static Load load(int bytes) {
    return new Load(
        bytes,
        (int) Math.clamp(ROUND_BYTES / bytes, MIN_MESSAGES, (long) MAX_MESSAGES),
        (int) Math.clamp(MAX_BYTES_OUTSTANDING / bytes, 4L, (long) MAX_OUTSTANDING));
  }

  private static Row row(Writes report) {
    double[] rates =
        Arrays.stream(report.nanosPerMessage()).map(nanos -> 1e9 / nanos).sorted().toArray();
    double median = Summary.of(rates, 1).median();
    return new Row(
        report.bytes(),
        rates.length,
        median,
        rates[0],
        rates[rates.length - 1],
        median * report.bytes() / 1e9,
        Summary.of(report.cpuNanos(), 1).median(),
        Summary.of(report.peerCpuNanos(), 1).median(),
        report.kernelDrops() + report.peerKernelDrops());
  }
}
