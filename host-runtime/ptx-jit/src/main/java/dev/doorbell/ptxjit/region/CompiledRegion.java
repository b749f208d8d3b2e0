package dev.doorbell.ptxjit.region;

import dev.doorbell.ptxvm.engine.machine.Op;
import org.jspecify.annotations.Nullable;

/**
 * A way into compiled code: it stands in the program in place of the operation at which a compiled
 * region may be entered, and executes from there on until control leaves the region. Generated
 * classes extend it.
 *
 * <p>A thread between two operations looks the same to the interpreter and to compiled code: {@link
 * VmThread#op}, the register file, the frame, the call stack. So either may go on where the other
 * stopped.
 */
public abstract class CompiledRegion extends Op {
  /** Which entry of the region it is. */
  int entry;

  /** The operation in whose place it stands. */
  @Nullable Op replaced;

  @Override
  public Op interpreted() {
    return replaced == null ? this : replaced;
  }
}
