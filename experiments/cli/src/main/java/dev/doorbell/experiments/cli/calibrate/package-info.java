/** {@code doorbell calibrate}: a GPU's prices, and the topology that is made of them. */
@NullMarked
package dev.doorbell.experiments.cli.calibrate;

import org.jspecify.annotations.NullMarked;
