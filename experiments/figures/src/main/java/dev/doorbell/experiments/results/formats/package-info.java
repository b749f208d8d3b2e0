/** Runs as other tools read them: every sample in a row, and timelines as traces. */
@NullMarked
package dev.doorbell.experiments.results.formats;

import org.jspecify.annotations.NullMarked;
