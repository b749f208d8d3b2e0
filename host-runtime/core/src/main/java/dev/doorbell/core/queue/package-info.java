/** Queue pairs and jobs as kernels see them: the Java side of kernels/include/doorbell/abi.h. */
@NullMarked
package dev.doorbell.core.queue;

import org.jspecify.annotations.NullMarked;
