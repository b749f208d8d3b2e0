package dev.doorbell.experiments.cli.hca;

import dev.doorbell.core.problem.EnvironmentException;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.cli.command.UsageException;
import dev.doorbell.interop.access.AccessToken;
import dev.doorbell.interop.control.ControlClient;
import dev.doorbell.interop.control.ControlPlace;
import dev.doorbell.interop.control.HostPort;
import dev.doorbell.interop.control.SocketFile;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.Map;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Where a served HCA is asked, as an argument of commands. */
public final class HcaPlace {
  private static final long NANOS_PER_SECOND = 1_000_000_000L;

  @Parameters(
      index = "0",
      paramLabel = "PLACE",
      description =
          "Where the HCA is asked: the PORT of one of this user, or what 'doorbell hca serve'"
              + " printed, a socket file or HOST:PORT.")
  private String at = "";

  @Mixin private TokenOption token = new TokenOption();

  @Option(
      names = "--timeout",
      paramLabel = "SECONDS",
      description = "How long each answer may take; ${DEFAULT-VALUE} unless given.")
  private int seconds = 5;

  ControlClient open() throws UsageException, EnvironmentException {
    return new ControlClient(control(at, token), Math.max(1, seconds) * NANOS_PER_SECOND);
  }

  /**
   * Parses a port, which means the socket file of that name, a socket file, or a host and a port,
   * which need a token.
   */
  static ControlPlace control(String text, TokenOption token)
      throws UsageException, EnvironmentException {
    if (text.indexOf('/') >= 0) {
      return new SocketFile(Path.of(text).toAbsolutePath());
    }
    HostPort endpoint = endpoint(text);
    return text.indexOf(':') < 0
        ? SocketFile.ofPort(endpoint.port())
        : new HostPort(endpoint.host(), endpoint.port(), token.read());
  }

  /** Parses a port, or a host and a port. */
  public static HostPort endpoint(String text) throws UsageException {
    try {
      return HostPort.parse(text);
    } catch (IllegalArgumentException e) {
      throw new UsageException(
          Problem.of("DB-U003", null, String.valueOf(e.getMessage()))
              .fix("for example 5000, or 10.0.0.1:5000"));
    }
  }

  /**
   * A free TCP port of this machine for processes that this one starts. They show the token of the
   * environment, or a random one where there is none.
   */
  public static HostPort privateMeeting() throws EnvironmentException {
    try (ServerSocket probe = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      HostPort free = new HostPort("127.0.0.1", probe.getLocalPort());
      return free.token() != null
          ? free
          : new HostPort(free.host(), free.port(), AccessToken.random());
    } catch (IOException e) {
      throw new EnvironmentException(
          Problem.of("DB-E040", null, "no port is free: " + e.getMessage()));
    }
  }

  /** What the environment of a process holds that is to come there. */
  public static Map<String, String> environment(HostPort meeting) {
    AccessToken token = meeting.token();
    return token == null ? Map.of() : Map.of(AccessToken.VARIABLE, token.text());
  }

  /** Refuses an option whose value is not {@code legal}. */
  static void require(boolean holds, String option, String legal) throws UsageException {
    if (!holds) {
      throw new UsageException(Problem.of("DB-U003", option, "it is " + legal));
    }
  }
}
