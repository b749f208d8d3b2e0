package dev.doorbell.experiments.cli.hca;

import dev.doorbell.core.adapter.Adapter;
import dev.doorbell.core.fault.FaultPlan;
import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.core.problem.EnvironmentException;
import dev.doorbell.experiments.cli.command.AdapterOption;
import dev.doorbell.experiments.cli.command.CliCommand;
import dev.doorbell.experiments.cli.command.CommandContext;
import dev.doorbell.experiments.cli.command.ExitCode;
import dev.doorbell.experiments.cli.command.UsageException;
import dev.doorbell.experiments.fault.FaultFile;
import dev.doorbell.interop.control.ControlPlace;
import dev.doorbell.interop.control.HostPort;
import dev.doorbell.interop.control.SocketFile;
import dev.doorbell.interop.serve.HcaServer;
import dev.doorbell.interop.serve.ServeOptions;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code doorbell hca serve}. */
@CommandLine.Command(
    header = {
      "Serves an HCA to other processes until it is interrupted.",
      "",
      "  doorbell hca serve --port 5000",
      "  doorbell hca serve --port 5000 --faults lossy.yaml --pcap served.pcapng",
      "  doorbell hca serve --port 5000 --address 10.0.0.1 --control 10.0.0.1 --token secret",
      "",
      "Packets go to UDP port PORT. Questions go to a socket file that only this user can open:",
      "'doorbell hca stats PORT'. What a client was given ends with its connection.",
      ""
    })
final class HcaServeCommand extends CliCommand {
  private static final long MIB = 1 << 20;
  private static final long NOBODY = 0;
  private static final long CHECK_NANOS = 1_000_000_000L;

  @Option(names = "--port", description = "UDP port for packets; any that is free unless given.")
  private int port;

  @Option(
      names = "--address",
      description =
          "IPv4 or IPv6 address for packets, which is the GID; ${DEFAULT-VALUE} unless given.")
  private String address = ServeOptions.LOCAL.address();

  @Option(
      names = "--control",
      paramLabel = "PLACE",
      description =
          "Where questions are answered: a socket FILE (with a '/') in a folder that only this"
              + " user can enter, or the HOST[:PORT] of TCP, with --token; a socket file of the"
              + " port's name in the user's runtime folder unless given.")
  private @Nullable String control;

  @Mixin private TokenOption token = new TokenOption();

  @Option(
      names = "--captures",
      paramLabel = "FOLDER",
      description = "Folder below which 'hca pcap' may have captures written; none unless given.")
  private @Nullable Path captures;

  @Option(names = "--mtu", description = "Path MTU; ${DEFAULT-VALUE} unless given.")
  private int mtu = ServeOptions.LOCAL.mtu();

  @Option(
      names = "--memory",
      paramLabel = "MIB",
      description = "Memory of all clients together; ${DEFAULT-VALUE} unless given.")
  private int memory = (int) (ServeOptions.LOCAL.memoryBytes() / MIB);

  @Option(
      names = "--queue-pairs",
      description = "Queue pairs of all clients together; ${DEFAULT-VALUE} unless given.")
  private int queuePairs = ServeOptions.LOCAL.queuePairs();

  @Option(names = "--faults", paramLabel = "FILE", description = "A fault plan for its packets.")
  private @Nullable Path faults;

  @Option(
      names = "--pcap",
      paramLabel = "FILE",
      description = "Capture its packets from the start.")
  private @Nullable Path pcap;

  @Option(
      names = "--peer-port",
      paramLabel = "any|strict",
      description =
          "From which UDP port of its peer a connection accepts packets: strict, the port that the"
              + " peer receives on, as Doorbell's HCAs send; any, as RoCE has it, which Linux and"
              + " NICs need. strict unless given.")
  private PeerPort peerPort = PeerPort.STRICT;

  private enum PeerPort {
    ANY,
    STRICT
  }

  @Option(
      names = "--nic",
      paramLabel = "NAME|FILE",
      description = "What the HCA promises (docs/adapters.md); ${DEFAULT-VALUE} unless given.")
  private String nic = "cx7";

  @Option(
      names = "--with",
      paramLabel = "PID",
      description = "End when that process has ended.",
      hidden = true)
  private long companion = NOBODY;

  private long checked = System.nanoTime();

  @Override
  public ExitCode run(CommandContext context)
      throws UsageException, ConfigException, EnvironmentException {
    HcaPlace.require(port >= 0 && port <= 0xffff, "--port", "0 to 65535");
    HcaPlace.require(
        Integer.bitCount(mtu) == 1 && mtu >= 256 && mtu <= 4096,
        "--mtu",
        "256, 512, 1024, 2048 or 4096");
    HcaPlace.require(memory >= 1 && memory <= 65_536, "--memory", "1 to 65536");
    HcaPlace.require(queuePairs >= 1 && queuePairs <= 65_000, "--queue-pairs", "1 to 65000");
    FaultPlan plan = faults == null ? FaultPlan.NONE : FaultFile.load(faults);
    Adapter adapter = AdapterOption.parseServed("--nic", nic);
    ServeOptions options =
        new ServeOptions(
            address,
            port,
            place(),
            mtu,
            memory * MIB,
            queuePairs,
            ServeOptions.LOCAL.clients(),
            plan,
            pcap,
            captures,
            peerPort == PeerPort.STRICT,
            adapter);
    try (HcaServer hca = new HcaServer(options)) {
      // One line, for which a process that started this one waits.
      context.terminal().out().printf("hca %s control %s%n", hca.address(), hca.control());
      context.terminal().out().flush();
      hca.run(() -> context.interruption().requested() || hasCompanionEnded());
    }
    return ExitCode.OK;
  }

  private @Nullable ControlPlace place() throws UsageException, EnvironmentException {
    String text = control;
    if (text == null) {
      return null;
    }
    if (text.indexOf('/') >= 0) {
      return new SocketFile(Path.of(text).toAbsolutePath());
    }
    // Of two words that a colon parts the second is a port; an IPv6 address has more, or brackets.
    boolean hasPort = text.matches("[^:]+:\\d+|\\[.*]:\\d+");
    String host =
        text.startsWith("[") && text.endsWith("]") ? text.substring(1, text.length() - 1) : text;
    HostPort at = hasPort ? HcaPlace.endpoint(text) : new HostPort(host, 0, null);
    return new HostPort(at.host(), at.port(), token.readOrCreate());
  }

  /** True when the process for which this one was started has ended; checks once a second. */
  private boolean hasCompanionEnded() {
    long now = System.nanoTime();
    if (companion == NOBODY || now - checked < CHECK_NANOS) {
      return false;
    }
    checked = now;
    return ProcessHandle.of(companion).isEmpty();
  }
}
