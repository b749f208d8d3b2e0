/** Builds the worlds of an exploration and runs them once a schedule. */
@NullMarked
package dev.doorbell.experiments.workbench.explore;

import org.jspecify.annotations.NullMarked;
