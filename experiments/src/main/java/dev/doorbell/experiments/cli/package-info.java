/** The command line: what a user types, what a user reads, and the exit codes. */
@NullMarked
package dev.doorbell.experiments.cli;

import org.jspecify.annotations.NullMarked;
