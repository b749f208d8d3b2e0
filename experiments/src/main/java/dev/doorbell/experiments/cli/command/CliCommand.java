package dev.doorbell.experiments.cli.command;

import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.core.problem.EnvironmentException;
import dev.doorbell.experiments.plan.PointFailure;
import dev.doorbell.experiments.run.RunException;
import picocli.CommandLine.Mixin;

/** A subcommand, ready to run once its options are parsed. */
public abstract class CliCommand {
  @Mixin private CommonOptions common = new CommonOptions();

  /** Does what the options say. */
  public abstract ExitCode run(CommandContext context)
      throws UsageException, ConfigException, EnvironmentException, RunException, PointFailure;

  /** Options of every command. */
  protected final CommonOptions common() {
    return common;
  }
}
