package dev.doorbell.ptxjit;

import dev.doorbell.core.memory.AddressSpace.PageTable;
import dev.doorbell.ptxjit.warp.WarpCompiler;
import dev.doorbell.ptxvm.engine.machine.KernelCode.Program;
import dev.doorbell.ptxvm.engine.machine.KernelCompiler;
import dev.doorbell.ptxvm.engine.machine.LinkedFunction;
import dev.doorbell.ptxvm.engine.ops.control.Branch;

/** Compiles kernels to bytecode for whole warps; lanes that are apart stay with the interpreter. */
public final class JitCompiler implements KernelCompiler {
  @Override
  public Result compile(Program program, PageTable pages, int[] counts) {
    for (LinkedFunction function : program.functions()) {
      for (int i = 0; i < function.ops.size(); i++) {
        if (function.op(i).bare() instanceof Branch branch && branch.target == null) {
          return new Result(
              false, "interpreter ('" + function.function.name() + "' branches behind its end)");
        }
      }
    }
    return new WarpCompiler(program, pages, counts).install()
        ? new Result(true, "warp")
        : new Result(false, "interpreter (its lanes never meet)");
  }
}
