/**
 * Opcodes that decide what runs next: branches, calls, barriers, warp operations, and the functions
 * that CUDA provides (printf, assert, free).
 */
@NullMarked
package dev.doorbell.ptxvm.engine.ops.control;

import org.jspecify.annotations.NullMarked;
