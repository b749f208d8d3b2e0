package dev.doorbell.ptxvm.engine.machine;

import org.jspecify.annotations.Nullable;

/**
 * An instruction that PTX has and the virtual GPU does not execute: a fault for a thread that gets
 * there, and nothing to all others. Libraries have many such in paths that a run never takes.
 */
public final class Stop extends Op {
  private final String reason;

  /**
   * An instruction that stops its kernel.
   *
   * @param reason why it is not executed, in words
   */
  public Stop(String reason) {
    this.reason = reason;
  }

  /** Why it is not executed. */
  public String reason() {
    return reason;
  }

  @Override
  public @Nullable Op execute(VmThread t, long[] r) {
    throw new Fault(reason);
  }
}
