package dev.doorbell.ptxvm.engine;

/**
 * A door into compiled code: it stands in the program in place of the operation at which a compiled
 * region may be entered, and executes from there on until control leaves the region. Generated
 * classes extend it.
 *
 * <p>A thread between two operations looks the same to the interpreter and to compiled code: {@link
 * VmThread#op}, the register file, the frame, the call stack. So either may go on where the other
 * stopped.
 */
abstract class Entry extends Op {
  /** Which door of the region it is. */
  int door;
}
