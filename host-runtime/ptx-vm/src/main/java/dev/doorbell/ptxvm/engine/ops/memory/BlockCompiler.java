package dev.doorbell.ptxvm.engine.ops.memory;

import dev.doorbell.ptxvm.engine.machine.KernelCode.Program;
import dev.doorbell.ptxvm.engine.machine.Op;
import java.util.ServiceLoader;
import org.jspecify.annotations.Nullable;

/**
 * Compiles blocks. The virtual machine runs without one; a module on the class path provides it.
 */
public interface BlockCompiler {
  /** Compiler of the class path, or null. */
  @Nullable BlockCompiler OF_CLASS_PATH =
      ServiceLoader.load(BlockCompiler.class, BlockCompiler.class.getClassLoader())
          .findFirst()
          .orElse(null);

  /** Compiled block: an operation that returns what comes next. */
  abstract class Code extends Op {
    /** Instructions that a step must have left, so that the code need not look in between. */
    public int most;
  }

  /**
   * Compiles a block, alone or together with what is executed behind it: other blocks, jumps, weak
   * accesses and waits for loads. Each access is the operation that the interpreter executes, with
   * the same instructions counted before it.
   *
   * @param program whose constants are the same for all who execute it
   * @param onwards whether with what is executed behind it
   * @return null where that cannot be compiled
   */
  @Nullable Code compile(Program program, Block block, boolean onwards);
}
