package dev.doorbell.ptxvm.engine.machine;

import dev.doorbell.core.memory.AddressSpace.PageTable;
import dev.doorbell.ptxvm.engine.machine.KernelCode.Program;

/**
 * Compiles kernels. The virtual machine runs without one; a module on the class path provides it as
 * a service.
 */
public interface KernelCompiler {
  /**
   * Outcome for a kernel.
   *
   * @param isCompiled false when the kernel stays with the interpreter
   * @param engine what executes it, in words
   */
  record Result(boolean isCompiled, String engine) {}

  /**
   * Compiles a kernel and links the code into its program. Threads may be anywhere between two
   * operations meanwhile.
   *
   * @param pages those that the kernel's GPU may touch; accesses take no virtual time
   * @param counts how often each operation was executed, by {@link Op#place}; may be empty
   */
  Result compile(Program program, PageTable pages, int[] counts);
}
