package dev.doorbell.ptxjit.block;

import dev.doorbell.ptxvm.engine.machine.LoadScoreboard;
import dev.doorbell.ptxvm.engine.machine.VmThread;
import dev.doorbell.ptxvm.engine.ops.memory.BlockCompiler;

/** A block, and what comes behind it, as code; generated classes extend it. */
public abstract class CompiledBlock extends BlockCompiler.Code {
  /** Waits for loads of these slots; false when the port parked. */
  public static boolean await(VmThread t, int[] slots) {
    LoadScoreboard board = t.scoreboard;
    return board == null || board.await(slots);
  }
}
