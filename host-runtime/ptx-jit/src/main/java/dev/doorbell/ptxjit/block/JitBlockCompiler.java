package dev.doorbell.ptxjit.block;

import dev.doorbell.ptxjit.emit.HiddenClass;
import dev.doorbell.ptxvm.engine.machine.Op;
import dev.doorbell.ptxvm.engine.machine.Program;
import dev.doorbell.ptxvm.engine.ops.control.Branch;
import dev.doorbell.ptxvm.engine.ops.memory.BlockCompiler;
import java.lang.invoke.MethodHandles;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Compiles blocks to bytecode. */
public final class JitBlockCompiler implements BlockCompiler {
  @Override
  public @Nullable Op compile(Program program, List<Op> ops) {
    Op last = ops.getLast();
    if (last.next == null || (last instanceof Branch branch && branch.target == null)) {
      return null;
    }
    BlockEmitter emitter = new BlockEmitter(program, ops);
    byte[] file = emitter.write();
    if (!HiddenClass.isCompilable(file)) {
      return null;
    }
    return HiddenClass.instance(
        HiddenClass.define(
            MethodHandles.lookup(), file, emitter.classData.objects(), CompiledBlock.class));
  }
}
