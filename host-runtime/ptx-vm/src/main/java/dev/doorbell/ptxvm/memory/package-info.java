/**
 * Memory of PTX variables: module variables, and the shared, local and parameter windows of running
 * blocks.
 */
@NullMarked
package dev.doorbell.ptxvm.memory;

import org.jspecify.annotations.NullMarked;
