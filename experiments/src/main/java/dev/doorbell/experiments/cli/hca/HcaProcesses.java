package dev.doorbell.experiments.cli.hca;

import dev.doorbell.core.problem.EnvironmentException;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.cli.command.ChildProcess;
import dev.doorbell.experiments.remote.Endpoint;

/** What is known of processes that were started for a command. */
final class HcaProcesses {
  private static final String CONTROL = " control ";

  private HcaProcesses() {}

  /** Where a {@code doorbell hca serve} is asked: from its first line. */
  static Endpoint control(ChildProcess served) throws EnvironmentException {
    String line = served.line();
    int from = line.indexOf(CONTROL);
    if (from < 0) {
      throw new EnvironmentException(
          Problem.of("DB-E047", null, "the other process did not start")
              .fix("doorbell hca serve says why"));
    }
    return Endpoint.parse(line.substring(from + CONTROL.length()).strip());
  }

  /** {@code trouble} with a served HCA, or that its process has ended where that is the cause. */
  static EnvironmentException explain(EnvironmentException trouble, ChildProcess served) {
    int status = served.await(1);
    if (status == ChildProcess.RUNNING) {
      return trouble;
    }
    return new EnvironmentException(
        Problem.of("DB-E047", null, "the other process ended with status %d".formatted(status))
            .effect(trouble.problem().what())
            .fix("above 128 a signal ended it; else its own message stands before this one"));
  }
}
