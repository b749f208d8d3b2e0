package dev.doorbell.experiments.cli.hca;

import dev.doorbell.core.problem.EnvironmentException;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.cli.command.ChildProcess;
import dev.doorbell.interop.control.ControlPlace;
import dev.doorbell.interop.control.SocketFile;
import java.nio.file.Path;

/** Reads the output and the exit status of processes that a command has started. */
final class HcaProcesses {
  private static final String CONTROL = " control ";

  private HcaProcesses() {}

  /** The socket file of a {@code doorbell hca serve}, from its first line. */
  static ControlPlace control(ChildProcess served) throws EnvironmentException {
    String line = served.line();
    int from = line.indexOf(CONTROL);
    if (from < 0) {
      throw new EnvironmentException(
          Problem.of("DB-E047", null, "the other process did not start")
              .fix("doorbell hca serve says why"));
    }
    return new SocketFile(Path.of(line.substring(from + CONTROL.length()).strip()));
  }

  /** Returns {@code error}, or the end of the serving process where that is the cause. */
  static EnvironmentException explain(EnvironmentException error, ChildProcess served) {
    int status = served.await(1);
    if (status == ChildProcess.RUNNING) {
      return error;
    }
    return new EnvironmentException(
        Problem.of("DB-E047", null, "the other process ended with status %d".formatted(status))
            .effect(error.problem().what())
            .fix("above 128 a signal ended it; else its own message stands before this one"));
  }
}
