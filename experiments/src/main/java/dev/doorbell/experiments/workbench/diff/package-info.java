/**
 * Runs kernels of the catalogue with random parameters on two GPUs and compares what they leave in
 * memory, byte by byte, but for what depends on who came first.
 */
@NullMarked
package dev.doorbell.experiments.workbench.diff;

import org.jspecify.annotations.NullMarked;
