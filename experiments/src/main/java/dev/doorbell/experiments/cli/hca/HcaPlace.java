package dev.doorbell.experiments.cli.hca;

import dev.doorbell.core.problem.EnvironmentException;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.cli.command.UsageException;
import dev.doorbell.experiments.remote.ControlClient;
import dev.doorbell.experiments.remote.Endpoint;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Which served HCA a command speaks to. */
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

  /** A place as users write it: a port, or a host and a port. */
  public static Endpoint endpoint(String text) throws UsageException {
    try {
      return Endpoint.parse(text);
    } catch (IllegalArgumentException e) {
      throw new UsageException(
          Problem.of("DB-U003", null, String.valueOf(e.getMessage()))
              .fix("for example 5000, or 10.0.0.1:5000"));
    }
  }

  /** A TCP port of this machine that nobody has now. */
  public static int freePort() throws EnvironmentException {
    try (ServerSocket probe = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return probe.getLocalPort();
    } catch (IOException e) {
      throw new EnvironmentException(
          Problem.of("DB-E040", null, "no port is free: " + e.getMessage()));
    }
  }
}
