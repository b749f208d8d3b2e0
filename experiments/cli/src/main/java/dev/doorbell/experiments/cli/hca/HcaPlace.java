package dev.doorbell.experiments.cli.hca;

import dev.doorbell.core.problem.EnvironmentException;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.cli.command.UsageException;
import dev.doorbell.interop.control.ControlClient;
import dev.doorbell.interop.control.ControlPlace;
import dev.doorbell.interop.control.HostPort;
import dev.doorbell.interop.control.SocketFile;
import java.nio.file.Path;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The place of a served HCA, as an argument of commands. */
final class HcaPlace {
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
  static HostPort endpoint(String text) throws UsageException {
    try {
      return HostPort.parse(text);
    } catch (IllegalArgumentException e) {
      throw new UsageException(
          Problem.of("DB-U003", null, String.valueOf(e.getMessage()))
              .fix("for example 5000, or 10.0.0.1:5000"));
    }
  }

  /** Refuses an option whose value is not {@code legal}. */
  static void require(boolean holds, String option, String legal) throws UsageException {
    if (!holds) {
      throw new UsageException(Problem.of("DB-U003", option, "it is " + legal));
    }
  }
}
