/**
 * The first engine: one small object an instruction, one agent a CUDA thread, rendezvous for blocks
 * and warps.
 */
@NullMarked
package dev.doorbell.ptxvm.engine;

import org.jspecify.annotations.NullMarked;
