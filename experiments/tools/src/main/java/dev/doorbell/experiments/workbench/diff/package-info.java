/** Compares what one kernel leaves in memory on two GPUs: the request and the result. */
@NullMarked
package dev.doorbell.experiments.workbench.diff;

import org.jspecify.annotations.NullMarked;
