package dev.doorbell.ptxvm.engine.ops.memory;

import dev.doorbell.ptxvm.engine.machine.Op;
import dev.doorbell.ptxvm.engine.machine.Program;
import java.util.List;
import java.util.ServiceLoader;
import org.jspecify.annotations.Nullable;

/**
 * Compiles blocks. The virtual machine runs without one; a module on the class path provides it.
 */
public interface BlockCompiler {
  /** That of the class path, or null. */
  @Nullable BlockCompiler OF_CLASS_PATH =
      ServiceLoader.load(BlockCompiler.class, BlockCompiler.class.getClassLoader())
          .findFirst()
          .orElse(null);

  /**
   * Compiles operations that only compute.
   *
   * @param program whose constants are the same for all who execute it
   * @param ops in order; the last one may be a branch
   * @return an operation that does them all and returns what comes next, or null where that cannot
   *     be compiled
   */
  @Nullable Op compile(Program program, List<Op> ops);
}
