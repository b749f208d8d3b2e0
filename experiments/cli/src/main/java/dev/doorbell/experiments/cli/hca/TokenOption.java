package dev.doorbell.experiments.cli.hca;

import dev.doorbell.core.problem.EnvironmentException;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.cli.command.UsageException;
import dev.doorbell.interop.access.AccessToken;
import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The token of a control port over TCP. */
final class TokenOption {
  @Option(
      names = "--token",
      paramLabel = "FILE",
      description =
          "File of mode 0600 with the token of a control port over TCP; the environment's"
              + " DOORBELL_HCA_TOKEN unless given.")
  private @Nullable Path file;

  /** The token; null where there is none. */
  @Nullable AccessToken read() throws UsageException, EnvironmentException {
    return file == null ? environment() : read(file, false);
  }

  /** The token of a server: a file that does not exist is created with a random one. */
  AccessToken readOrCreate() throws UsageException, EnvironmentException {
    AccessToken token = file == null ? environment() : read(file, true);
    if (token == null) {
      throw new UsageException(
          Problem.of("DB-U003", "--control", "over TCP the control port needs a token")
              .fix("--token FILE creates one in a new file; its clients name the same file"));
    }
    return token;
  }

  private static @Nullable AccessToken environment() throws UsageException {
    try {
      return AccessToken.ofEnvironment();
    } catch (IllegalArgumentException e) {
      throw new UsageException(
          Problem.of("DB-U003", AccessToken.VARIABLE, String.valueOf(e.getMessage())));
    }
  }

  private static AccessToken read(Path file, boolean create) throws EnvironmentException {
    try {
      return create ? AccessToken.readOrCreate(file) : AccessToken.read(file);
    } catch (IOException e) {
      throw new EnvironmentException(
          Problem.of("DB-E053", file.toString(), "the token cannot be read: " + e.getMessage())
              .fix("name a file of your own with mode 0600, which 'hca serve --token' creates"));
    }
  }
}
