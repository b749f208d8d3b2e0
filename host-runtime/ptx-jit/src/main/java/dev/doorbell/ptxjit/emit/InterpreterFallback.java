package dev.doorbell.ptxjit.emit;

import dev.doorbell.core.fabric.ThreadPort;
import dev.doorbell.core.memory.RawMemory;
import dev.doorbell.ptxvm.engine.decode.Space;
import dev.doorbell.ptxvm.engine.machine.Op;
import dev.doorbell.ptxvm.engine.machine.VmThread;
import dev.doorbell.ptxvm.engine.ops.memory.MemoryOp;

/**
 * Functions that compiled code calls for whatever is rare: operations without bytecode of their
 * own, and accesses that are not plain memory, which are doorbells and mistakes. Each notes the
 * operation first, so that an error names its place.
 */
@SuppressWarnings("ReferenceEquality") // operations are compared by identity
public final class InterpreterFallback {
  private InterpreterFallback() {}

  private static void note(Op op, VmThread t) {
    t.op = op;
    t.warp.acting = t;
  }

  /** Executes {@code op}, which always goes on with the next one, as the interpreter does. */
  public static void executeStraight(Op op, VmThread t, long[] r) {
    note(op, t);
    if (op.execute(t, r) != op.next) {
      throw new IllegalStateException("'" + t.where() + "' did not go on with the next operation");
    }
  }

  /** A load that is not plain memory; the upper 8 bytes of 16 go to {@link ThreadPort#high}. */
  public static long load(Op op, VmThread t, long address) {
    MemoryOp m = (MemoryOp) op;
    note(op, t);
    if (isWindow(m, t, address)) {
      long at = window(m, t, "load", address);
      if (m.bytes == 16) {
        t.port.high = RawMemory.getLong(at + 8);
      }
      return RawMemory.get(at, m.bytes);
    }
    t.checkAligned("load", address, m.bytes);
    return MemoryOp.load(t.port, address, m.bytes, m.access);
  }

  /** A store; {@code high} are the upper 8 bytes of 16. */
  public static void store(long address, long low, long high, Op op, VmThread t) {
    MemoryOp m = (MemoryOp) op;
    note(op, t);
    if (isWindow(m, t, address)) {
      long at = window(m, t, "store", address);
      RawMemory.put(at, m.bytes, low);
      if (m.bytes == 16) {
        RawMemory.putLong(at + 8, high);
      }
      return;
    }
    t.checkAligned("store", address, m.bytes);
    MemoryOp.store(t.port, address, m.bytes, low, high, m.access);
  }

  private static boolean isWindow(MemoryOp m, VmThread t, long address) {
    return m.space.isWindow() || (m.space == Space.GENERIC && t.isScratch(address));
  }

  /** The native address; for windows {@code address} is the offset. */
  private static long window(MemoryOp m, VmThread t, String what, long address) {
    if (m.space == Space.GENERIC) {
      t.checkScratch(what, address, m.bytes);
      return address;
    }
    return m.window(t, what, address);
  }
}
