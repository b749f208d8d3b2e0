package dev.doorbell.experiments.cli.command;

import java.io.PrintStream;

/**
 * Where output goes: results to {@code out}, progress and errors to {@code err}.
 *
 * @param interactive whether {@code err} is a terminal whose line can be rewritten
 */
public record Terminal(PrintStream out, PrintStream err, boolean interactive) {}
