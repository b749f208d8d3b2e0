package dev.doorbell.ptxvm.engine.machine;

import java.util.BitSet;
import java.util.List;

/**
 * The functions of a kernel and the register file that they share.
 *
 * @param functions the kernel and every function that it may call, the kernel first
 * @param poolStart the first slot that holds a constant or a special register
 * @param constants the register file of a thread that has not begun: what constant slots hold
 * @param specials slots of special registers, which differ from thread to thread
 */
@SuppressWarnings("ArrayRecordComponent") // handed over, never compared
public record Program(
    List<LinkedFunction> functions, int poolStart, long[] constants, BitSet specials) {
  /** Returns this program with other constants. */
  public Program with(long[] others) {
    return new Program(functions, poolStart, others, specials);
  }

  /** True when the slot holds the same value in every thread, always. */
  public boolean isConstant(int slot) {
    return slot >= poolStart && !specials.get(slot);
  }

  /** What a constant slot holds. */
  public long constant(int slot) {
    return constants[slot];
  }
}
