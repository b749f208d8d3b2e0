package dev.doorbell.ptxvm.engine.machine;

/** Steps the threads of a grid in place of the interpreter's own loop. */
public interface Stepper {
  /**
   * Executes instructions from {@code first} on, as {@link VmThread#step} does, and counts them off
   * {@link VmThread#left}.
   */
  void step(VmThread t, Op first);
}
