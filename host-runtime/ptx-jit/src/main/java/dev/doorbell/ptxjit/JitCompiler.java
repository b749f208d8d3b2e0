package dev.doorbell.ptxjit;

import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.ptxjit.region.RegionCompiler;
import dev.doorbell.ptxjit.warp.WarpCompiler;
import dev.doorbell.ptxvm.engine.machine.KernelCompiler;
import dev.doorbell.ptxvm.engine.machine.Program;

/** Compiles kernels to bytecode: every lane by itself, and whole warps where lanes converge. */
public final class JitCompiler implements KernelCompiler {
  @Override
  public Result compile(Program program, AddressSpace memory, int[] counts, boolean warps) {
    RegionCompiler regions = new RegionCompiler(program, memory.pageTable(), counts);
    String reason = regions.compile();
    if (reason != null) {
      return new Result(false, "interpreter (" + reason + ")");
    }
    if (!warps) {
      return new Result(true, "compiled");
    }
    boolean converges =
        new WarpCompiler(program, memory.pageTable(), counts, regions::linked).install();
    return new Result(true, converges ? "warp" : "compiled (its lanes never meet)");
  }
}
