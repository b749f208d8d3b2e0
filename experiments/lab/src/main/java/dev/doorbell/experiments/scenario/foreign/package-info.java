/**
 * Adapters of other device APIs. Each lays the structures that a library's device code expects over
 * queue pairs, completion queues and registered memory of a world, so that the unmodified code
 * posts there.
 *
 * <p>Offsets are never typed in: the user's headers give them, through a table in the kernel's own
 * PTX ({@code kernels/include/doorbell/api}). {@link ApiLayout} reads it, {@link StructImage} fills
 * structures by the names of their fields, and an {@link ApiAdapter} says which.
 */
@NullMarked
package dev.doorbell.experiments.scenario.foreign;

import org.jspecify.annotations.NullMarked;
