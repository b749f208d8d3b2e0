/**
 * The command line as a whole: the list of commands, the way from an argument list to one of them,
 * and what has to know them all. Families of commands have packages of their own.
 */
@NullMarked
package dev.doorbell.experiments.cli;

import org.jspecify.annotations.NullMarked;
