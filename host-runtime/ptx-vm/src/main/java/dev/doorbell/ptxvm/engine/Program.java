package dev.doorbell.ptxvm.engine;

import java.util.BitSet;
import java.util.List;

/**
 * What a kernel is made of, as the compiler takes it.
 *
 * @param callees the kernel and every function that it may call
 * @param poolStart the first slot that holds a constant or a special register
 * @param constants the register file of a thread that has not begun: what constant slots hold
 * @param specials slots of special registers, which differ from thread to thread
 */
record Program(List<Callee> callees, int poolStart, long[] constants, BitSet specials) {
  /** True when the slot holds the same value in every thread, always. */
  boolean isConstant(int slot) {
    return slot >= poolStart && !specials.get(slot);
  }

  long constant(int slot) {
    return constants[slot];
  }
}
