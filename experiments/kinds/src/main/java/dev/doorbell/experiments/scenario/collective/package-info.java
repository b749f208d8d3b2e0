/** Collectives among many ranks: schedules of {@code experiments.collective}, executed by GPUs. */
@NullMarked
package dev.doorbell.experiments.scenario.collective;

import org.jspecify.annotations.NullMarked;
