/** Measures the prices of a GPU, real or virtual, with kernels written for it. */
@NullMarked
package dev.doorbell.experiments.workbench.calibration;

import org.jspecify.annotations.NullMarked;
