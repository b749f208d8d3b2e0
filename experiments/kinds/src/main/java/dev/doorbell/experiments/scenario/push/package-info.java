/**
 * Worlds in which kernels push: GPUs, push engines and the network between them, and the
 * experiments that are run in them.
 */
@NullMarked
package dev.doorbell.experiments.scenario.push;

import org.jspecify.annotations.NullMarked;
