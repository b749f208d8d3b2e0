/**
 * The price list of a machine: what its GPU's accesses cost, measured by kernels, and the topology
 * file that it becomes. Who measures is found as a service.
 */
@NullMarked
package dev.doorbell.experiments.calibration;

import org.jspecify.annotations.NullMarked;
