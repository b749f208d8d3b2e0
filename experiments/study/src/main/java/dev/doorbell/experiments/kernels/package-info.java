/** A user's kernels: found in folders, each a descriptor with its PTX. */
@NullMarked
package dev.doorbell.experiments.kernels;

import org.jspecify.annotations.NullMarked;
