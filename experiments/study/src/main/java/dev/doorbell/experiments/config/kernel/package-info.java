/** Descriptors of kernels. */
@NullMarked
package dev.doorbell.experiments.config.kernel;

import org.jspecify.annotations.NullMarked;
