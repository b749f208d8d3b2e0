/**
 * The launches of a point: kernels of the catalogue and of the user, the path of their payload, and
 * the buffers of a rank that they work on.
 */
@NullMarked
package dev.doorbell.experiments.scenario.kernel;

import org.jspecify.annotations.NullMarked;
