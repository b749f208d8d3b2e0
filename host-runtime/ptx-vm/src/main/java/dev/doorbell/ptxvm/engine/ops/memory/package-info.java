/** Opcodes that access memory: loads, stores, atomics, fences, asynchronous copies, mbarriers. */
@NullMarked
package dev.doorbell.ptxvm.engine.ops.memory;

import org.jspecify.annotations.NullMarked;
