/**
 * Compiles kernels of the PTX virtual machine to JVM bytecode; found as a service.
 *
 * <p>{@code flow} analyses flow graphs, {@code emit} writes the bytecode of operations, {@code
 * warp} compiles all lanes of a warp together, {@code block} compiles what lies between accesses
 * where those take virtual time. See docs/engines.md.
 */
@NullMarked
package dev.doorbell.ptxjit;

import org.jspecify.annotations.NullMarked;
