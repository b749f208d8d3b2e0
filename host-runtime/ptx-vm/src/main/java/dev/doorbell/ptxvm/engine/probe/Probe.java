package dev.doorbell.ptxvm.engine.probe;

import dev.doorbell.ptxvm.ir.Instruction;
import dev.doorbell.ptxvm.ir.Operand.Register;
import java.util.List;

/**
 * Hears of every instruction that a launch executes, one at a time, on the host thread that runs
 * the fabric. A launch with a probe runs in the interpreter; one without pays nothing for it.
 *
 * <p>An instruction is reported once, when it is done: neither the attempts of a load that the
 * fabric parks nor the wait at a barrier count.
 */
public interface Probe {
  /**
   * Returns true if {@link #followed} receives this thread's values; otherwise its instructions are
   * only counted.
   *
   * @param thread its linear index in the grid
   */
  boolean follows(long thread);

  /**
   * An instruction was executed by a thread that is not followed.
   *
   * @param thread its linear index in the grid
   * @param skipped its guard was false
   */
  void counted(long thread, Instruction instruction, boolean skipped);

  void followed(Step step);

  /**
   * Effect of an instruction.
   *
   * @param thread linear index in the grid
   * @param threadName {@code block (0,0,0) thread (5,0,0)}
   * @param skipped its guard was false: nothing was written
   * @param read registers that it reads, guard included, with their values before
   * @param written registers that it writes, with their values after
   */
  record Step(
      long thread,
      String threadName,
      Instruction instruction,
      boolean skipped,
      List<Value> read,
      List<Value> written) {}

  /** A register and its bits, zero-extended. */
  record Value(Register register, long bits) {}
}
