/** Counts the work of readers, so that it can be compared for inputs of two sizes. */
@NullMarked
package dev.doorbell.experiments.fuzz.growth;

import org.jspecify.annotations.NullMarked;
