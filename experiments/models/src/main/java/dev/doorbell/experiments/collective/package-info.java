/**
 * Collectives as data: what each does to the buffers of its ranks, the steps of each rank by each
 * algorithm, the numbers that ranks contribute, and how long a schedule takes in a LogGP model.
 *
 * <p>Nothing here runs: {@code scenario.collective} executes schedules by the kernel {@code
 * collective}.
 */
@NullMarked
package dev.doorbell.experiments.collective;

import org.jspecify.annotations.NullMarked;
