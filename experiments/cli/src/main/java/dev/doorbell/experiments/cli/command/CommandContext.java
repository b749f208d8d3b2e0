package dev.doorbell.experiments.cli.command;

import dev.doorbell.experiments.plan.ExperimentRuntime;
import dev.doorbell.experiments.run.Disk;
import dev.doorbell.experiments.run.Interruption;
import java.time.Clock;
import java.util.List;
import java.util.function.Supplier;

/**
 * The world around a command; tests put another one in its place.
 *
 * @param runtime made on first use, so that commands that need no GPU load none
 * @param arguments the whole command line, for the manifest
 */
public record CommandContext(
    Terminal terminal,
    Supplier<ExperimentRuntime> runtime,
    Disk disk,
    Clock clock,
    Interruption interruption,
    List<String> arguments) {}
