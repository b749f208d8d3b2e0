/** Figures as configs, papers and the command line describe them. */
@NullMarked
package dev.doorbell.experiments.config.figure;

import org.jspecify.annotations.NullMarked;
