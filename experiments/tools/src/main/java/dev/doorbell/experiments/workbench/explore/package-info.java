/** Exploration: one kernel, many seeds, and each race reported once with both source lines. */
@NullMarked
package dev.doorbell.experiments.workbench.explore;

import org.jspecify.annotations.NullMarked;
