package dev.doorbell.ptxjit.block;

import dev.doorbell.ptxjit.emit.HiddenClass;
import dev.doorbell.ptxvm.engine.machine.KernelCode.Program;
import dev.doorbell.ptxvm.engine.machine.LoadScoreboard;
import dev.doorbell.ptxvm.engine.machine.VmThread;
import dev.doorbell.ptxvm.engine.ops.memory.Block;
import dev.doorbell.ptxvm.engine.ops.memory.BlockCompiler;
import java.lang.invoke.MethodHandles;
import org.jspecify.annotations.Nullable;

/** Compiles blocks, with what comes behind them, to bytecode. */
public final class JitBlockCompiler implements BlockCompiler {
  /** From most to fewest operations: a method may be larger than what the host compiles. */
  private static final int[] SIZES = {200, 60, 1};

  private static final int[] ALONE = {1};

  @Override
  public @Nullable Code compile(Program program, Block block, boolean onwards) {
    for (int size : onwards ? SIZES : ALONE) {
      Trace trace = Trace.from(block, size);
      if (trace == null) {
        return null;
      }
      BlockEmitter emitter = new BlockEmitter(program, trace);
      byte[] file = emitter.write();
      if (HiddenClass.isCompilable(file)) {
        CompiledBlock code =
            HiddenClass.instance(
                HiddenClass.define(
                    MethodHandles.lookup(),
                    file,
                    emitter.classData.objects(),
                    CompiledBlock.class));
        code.most = trace.size();
        return code;
      }
    }
    return null;
  }

  /** A block, and what comes behind it, as code; generated classes extend it. */
  public abstract static class CompiledBlock extends BlockCompiler.Code {
    /** Waits for loads of these slots; false when the port parked. */
    public static boolean await(VmThread t, int[] slots) {
      LoadScoreboard board = t.scoreboard;
      return board == null || board.await(slots);
    }
  }
}
