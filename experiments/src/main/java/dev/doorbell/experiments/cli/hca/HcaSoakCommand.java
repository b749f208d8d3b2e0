package dev.doorbell.experiments.cli.hca;

import dev.doorbell.core.problem.EnvironmentException;
import dev.doorbell.experiments.cli.command.ChildProcess;
import dev.doorbell.experiments.cli.command.CliCommand;
import dev.doorbell.experiments.cli.command.CommandContext;
import dev.doorbell.experiments.cli.command.ExitCode;
import dev.doorbell.experiments.cli.command.Json;
import dev.doorbell.experiments.cli.command.Show;
import dev.doorbell.experiments.cli.command.UsageException;
import dev.doorbell.interop.serve.HcaServer;
import dev.doorbell.interop.serve.HcaSoak;
import dev.doorbell.interop.serve.ServeOptions;
import dev.doorbell.interop.serve.SoakClients;
import dev.doorbell.interop.serve.SoakOptions;
import dev.doorbell.interop.serve.SoakReport;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code doorbell hca soak}. */
@CommandLine.Command(
    header = {
      "Lets clients come and go at a served HCA, and prints the memory over time.",
      "",
      "  doorbell hca soak                                ten minutes",
      "  doorbell hca soak --seconds 60 --clients 16 --per-second 1000",
      "",
      "A client connects, writes random bytes to a region of the server and reads them",
      "back; every second one leaves without a word. Memory is that of this process,",
      "which holds both ends, while nobody is connected: the heap after a collection,",
      "resident pages outside the heap, all resident pages. Exits with 1 when one of them grows"
          + " from the second",
      "quarter of the time to the last by more than 5 %% and 1 MiB, or a client fails.",
      ""
    })
final class HcaSoakCommand extends CliCommand {
  private static final int MOST_CLIENTS = 64;
  private static final int MOST_PER_SECOND = 10_000;
  private static final int LONGEST = 86_400;
  private static final int SAMPLES = 40;
  private static final double MEBIBYTE = 1 << 20;

  @Option(names = "--seconds", description = "How long; ${DEFAULT-VALUE} unless given.")
  private int seconds = 600;

  @Option(names = "--clients", description = "At the same time; ${DEFAULT-VALUE} unless given.")
  private int clients = 8;

  @Option(
      names = "--per-second",
      description = "Clients that come in a second; ${DEFAULT-VALUE} unless given.")
  private int perSecond = 50;

  @Option(names = "--seed", description = "Of sizes and bytes; ${DEFAULT-VALUE} unless given.")
  private long seed = 1;

  @Option(
      names = "--at",
      paramLabel = "PLACE",
      description = "Only the clients, of an HCA that is served there; memory is not looked at.")
  private @Nullable String at;

  @Mixin private TokenOption token = new TokenOption();

  @Override
  public ExitCode run(CommandContext context) throws UsageException, EnvironmentException {
    HcaPlace.require(seconds >= 4 && seconds <= LONGEST, "--seconds", "4 to " + LONGEST);
    HcaPlace.require(clients >= 1 && clients <= MOST_CLIENTS, "--clients", "1 to " + MOST_CLIENTS);
    HcaPlace.require(
        perSecond >= 1 && perSecond <= MOST_PER_SECOND, "--per-second", "1 to " + MOST_PER_SECOND);
    SoakOptions options =
        new SoakOptions(Duration.ofSeconds(seconds), clients, perSecond, SAMPLES, seed);
    if (at != null) {
      long gone =
          SoakClients.run(HcaPlace.control(at, token), options, context.interruption()::requested);
      context.terminal().out().println(Show.count(gone, "client") + " came and went");
      return context.interruption().requested() ? ExitCode.INTERRUPTED : ExitCode.OK;
    }
    try (HcaServer server = new HcaServer(ServeOptions.LOCAL);
        ChildProcess visitors =
            ChildProcess.start(
                List.of(
                    "hca",
                    "soak",
                    "--at=" + server.control(),
                    "--seconds=" + seconds,
                    "--clients=" + clients,
                    "--per-second=" + perSecond,
                    "--seed=" + seed))) {
      header(context);
      SoakReport report =
          HcaSoak.run(
              server,
              options,
              () -> context.interruption().requested() || hasFailed(visitors),
              sample -> print(context, sample));
      return conclude(context, report, hasFailed(visitors));
    }
  }

  private static boolean hasFailed(ChildProcess visitors) {
    int status = visitors.await(0);
    return status != 0 && status != ChildProcess.RUNNING;
  }

  private void header(CommandContext context) {
    if (!common().json()) {
      context
          .terminal()
          .out()
          .printf(
              "%8s %10s %14s %12s %14s %12s%n",
              "seconds", "clients", "MiB carried", "heap [MiB]", "outside [MiB]", "RSS [MiB]");
    }
  }

  private void print(CommandContext context, SoakReport.Sample sample) {
    if (common().json()) {
      return;
    }
    context
        .terminal()
        .out()
        .printf(
            Locale.ROOT,
            "%8.0f %,10d %14.1f %12.1f %14.1f %12.1f%n",
            sample.seconds(),
            sample.clients(),
            sample.bytes() / MEBIBYTE,
            sample.memory().heap() / MEBIBYTE,
            sample.memory().outside() / MEBIBYTE,
            sample.memory().resident() / MEBIBYTE);
    context.terminal().out().flush();
  }

  private ExitCode conclude(CommandContext context, SoakReport report, boolean failed) {
    boolean whole = report.samples().size() == SAMPLES;
    Optional<String> growth = whole ? report.growth() : Optional.empty();
    String verdict =
        failed
            ? "a client failed"
            : growth.orElse(whole ? "memory is flat" : "interrupted, no verdict");
    if (common().json()) {
      Map<String, Object> tree = new LinkedHashMap<>();
      tree.put("samples", report.samples());
      tree.put("verdict", verdict);
      Json.print(context, tree);
    } else {
      long come = report.samples().isEmpty() ? 0 : report.samples().getLast().clients();
      context.terminal().out().printf("%s; %s%n", Show.count(come, "client"), verdict);
    }
    return failed || growth.isPresent()
        ? ExitCode.FAILED
        : whole ? ExitCode.OK : ExitCode.INTERRUPTED;
  }
}
