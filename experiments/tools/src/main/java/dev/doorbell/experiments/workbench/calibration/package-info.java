/** The prices of a machine: how they are requested, derived and written as a topology. */
@NullMarked
package dev.doorbell.experiments.workbench.calibration;

import org.jspecify.annotations.NullMarked;
