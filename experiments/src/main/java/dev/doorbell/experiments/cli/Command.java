package dev.doorbell.experiments.cli;

import dev.doorbell.experiments.config.ConfigException;
import dev.doorbell.experiments.plan.EnvironmentException;
import dev.doorbell.experiments.plan.PointFailure;
import dev.doorbell.experiments.run.RunException;

/** A subcommand, ready to run once its options are parsed. */
interface Command {
  ExitCode run(Context context)
      throws UsageException, ConfigException, EnvironmentException, RunException, PointFailure;

  /** Whether the user asked for detail, stack traces of faults included. */
  boolean verbose();
}
