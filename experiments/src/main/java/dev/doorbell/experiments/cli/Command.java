package dev.doorbell.experiments.cli;

import dev.doorbell.experiments.config.ConfigException;
import dev.doorbell.experiments.plan.EnvironmentException;
import dev.doorbell.experiments.plan.PointFailure;
import dev.doorbell.experiments.run.RunException;
import picocli.CommandLine.Mixin;

/** A subcommand, ready to run once its options are parsed. */
abstract class Command {
  @Mixin private CommonOptions common = new CommonOptions();

  /** Does what the options say. */
  abstract ExitCode run(Context context)
      throws UsageException, ConfigException, EnvironmentException, RunException, PointFailure;

  /** What every command can be told. */
  CommonOptions common() {
    return common;
  }
}
