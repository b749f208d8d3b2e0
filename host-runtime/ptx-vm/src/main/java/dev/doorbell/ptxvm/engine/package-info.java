/**
 * What instructions do, and how threads run them: one small object an instruction, one agent a CUDA
 * thread, rendezvous for blocks and warps. Hot functions are written as bytecode, for one thread or
 * for the lanes of a warp that go together; every engine runs the same program, so that each goes
 * on where another stopped.
 */
@NullMarked
package dev.doorbell.ptxvm.engine;

import org.jspecify.annotations.NullMarked;
