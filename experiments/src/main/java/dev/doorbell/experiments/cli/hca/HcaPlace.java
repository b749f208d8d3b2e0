package dev.doorbell.experiments.cli.hca;

import dev.doorbell.core.problem.EnvironmentException;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.cli.command.UsageException;
import dev.doorbell.interop.control.ControlClient;
import dev.doorbell.interop.control.HostPort;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The address of a served HCA, as an argument of commands. */
public final class HcaPlace {
  private static final long NANOS_PER_SECOND = 1_000_000_000L;

  @Parameters(
      index = "0",
      paramLabel = "[HOST:]PORT",
      description = "Where the HCA is asked: what 'doorbell hca serve' printed.")
  private String at = "";

  @Option(
      names = "--timeout",
      paramLabel = "SECONDS",
      description = "How long each answer may take; ${DEFAULT-VALUE} unless given.")
  private int seconds = 5;

  ControlClient open() throws UsageException, EnvironmentException {
    return new ControlClient(endpoint(at), Math.max(1, seconds) * NANOS_PER_SECOND);
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

  /** A free TCP port of this machine. */
  public static int freePort() throws EnvironmentException {
    try (ServerSocket probe = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return probe.getLocalPort();
    } catch (IOException e) {
      throw new EnvironmentException(
          Problem.of("DB-E040", null, "no port is free: " + e.getMessage()));
    }
  }

  /** Refuses an option whose value is not {@code legal}. */
  static void require(boolean holds, String option, String legal) throws UsageException {
    if (!holds) {
      throw new UsageException(Problem.of("DB-U003", option, "it is " + legal));
    }
  }
}
