/**
 * The parts of every command: its options, its surroundings, how it is run, and how words, numbers,
 * JSON and exit codes reach the user. Knows no command.
 */
@NullMarked
package dev.doorbell.experiments.cli.command;

import org.jspecify.annotations.NullMarked;
