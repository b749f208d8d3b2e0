/** Descriptors of kernels, and how a kernel is compared between two GPUs. */
@NullMarked
package dev.doorbell.experiments.config.kernel;

import org.jspecify.annotations.NullMarked;
