package dev.doorbell.experiments.cli.explain;

import dev.doorbell.experiments.cli.command.CommandContext;
import dev.doorbell.experiments.cli.command.ExitCode;
import dev.doorbell.experiments.cli.command.Terminal;
import dev.doorbell.experiments.cli.command.UsageException;
import dev.doorbell.experiments.fuzz.FuzzTarget;
import dev.doorbell.experiments.fuzz.FuzzTarget.Outcome;
import dev.doorbell.experiments.fuzz.Mutator;
import dev.doorbell.experiments.plan.ExperimentRuntime;
import dev.doorbell.experiments.run.Disk;
import dev.doorbell.experiments.run.Interruption;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.util.List;
import java.util.Objects;
import java.util.ServiceLoader;
import java.util.stream.Stream;

/** Texts of all kinds, which {@code doorbell explain} takes apart. */
public final class ExplainTargets {
  private static final String FOLDER = "/dev/doorbell/experiments/cli/explain/";

  private final PrintStream nowhere =
      new PrintStream(OutputStream.nullOutputStream(), false, StandardCharsets.UTF_8);
  private final CommandContext context =
      new CommandContext(
          new Terminal(nowhere, nowhere, false),
          () -> ServiceLoader.load(ExperimentRuntime.class).findFirst().orElseThrow(),
          new Disk(),
          Clock.systemUTC(),
          new Interruption(),
          List.of());

  /** Returns the targets. */
  public List<FuzzTarget> targets() {
    return List.of(
        FuzzTarget.of(
                "explain",
                "texts that are pasted: logs, dumps, tables, machines, programs",
                ExplainTargets::seeds,
                Mutator.bytes("NCCL INFO ", "00000000: ", "GPU0\tNIC0", "<system>", "# ", "ibv_"),
                this::explain)
            .slow());
  }

  private static List<byte[]> seeds() {
    return Stream.of(
            "glued.txt",
            "graph.txt",
            "lspci.txt",
            "nccl.txt",
            "ndv5.xml",
            "perf.txt",
            "rocm.txt",
            "seed001.c",
            "sll.pcap",
            "topo-m-29.txt",
            "topo-mnnvl.xml",
            "wqe-dc.txt",
            "wqe-eth.txt",
            "log-perftest.txt")
        .map(ExplainTargets::file)
        .toList();
  }

  private static byte[] file(String name) {
    try (InputStream in = ExplainTargets.class.getResourceAsStream(FOLDER + name)) {
      return Objects.requireNonNull(in, name).readAllBytes();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private Outcome explain(byte[] input) {
    try {
      ExitCode code = new ExplainCommand(new ByteArrayInputStream(input)).run(context);
      return code == ExitCode.OK ? Outcome.ACCEPTED : Outcome.REFUSED;
    } catch (UsageException _) {
      return Outcome.REFUSED;
    }
  }
}
