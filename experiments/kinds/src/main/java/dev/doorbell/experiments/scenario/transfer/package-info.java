/**
 * Points whose kernels send messages from rank to rank through the kernels of the catalogue: on the
 * VM or a real GPU, in one process or two, measured, traced or printed step by step.
 */
@NullMarked
package dev.doorbell.experiments.scenario.transfer;

import org.jspecify.annotations.NullMarked;
