/** Straight runs of operations as code, between accesses that take virtual time. */
@NullMarked
package dev.doorbell.ptxjit.block;

import org.jspecify.annotations.NullMarked;
