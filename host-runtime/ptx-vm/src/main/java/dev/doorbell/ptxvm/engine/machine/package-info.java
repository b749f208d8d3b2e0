/**
 * Runs kernels: threads, warps, blocks and grids, their barriers and call stacks, and the operation
 * that a thread executes. Opcodes, linking and compilers build on it.
 */
@NullMarked
package dev.doorbell.ptxvm.engine.machine;

import org.jspecify.annotations.NullMarked;
