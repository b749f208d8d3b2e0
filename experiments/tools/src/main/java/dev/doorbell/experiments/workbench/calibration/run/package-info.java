/** Measures the prices of a GPU with generated kernels. */
@NullMarked
package dev.doorbell.experiments.workbench.calibration.run;

import org.jspecify.annotations.NullMarked;
