/**
 * The run directory: journal, samples, manifest and summaries, written so that a crash at any byte
 * leaves something that can be read and resumed, and the reader that rebuilds everything from it.
 */
@NullMarked
package dev.doorbell.experiments.run;

import org.jspecify.annotations.NullMarked;
