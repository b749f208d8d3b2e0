/**
 * What a kernel sees of a queue pair and of its job: the Java side of
 * kernels/include/doorbell/abi.h.
 */
@NullMarked
package dev.doorbell.core.queue;

import org.jspecify.annotations.NullMarked;
