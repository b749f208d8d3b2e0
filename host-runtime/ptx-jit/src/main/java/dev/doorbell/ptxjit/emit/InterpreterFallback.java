package dev.doorbell.ptxjit.emit;

import dev.doorbell.core.fabric.ThreadPort;
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

  /** A load of up to 8 bytes that is not plain global memory. */
  public static long load(Op op, VmThread t, long address) {
    MemoryOp m = (MemoryOp) op;
    note(op, t);
    if (isWindow(m, t, address)) {
      return MemoryOp.rawLoad(window(m, t, "load", address), m.bytes);
    }
    ThreadPort port = t.port;
    t.checkAligned("load", address, m.bytes);
    return switch (m.bytes) {
      case 1 -> port.load8(address, m.access);
      case 2 -> port.load16(address, m.access);
      case 4 -> port.load32(address, m.access);
      default -> port.load64(address, m.access);
    };
  }

  /** A load of 16 bytes; the upper 8 go to {@link ThreadPort#high}. */
  public static long loadWide(Op op, VmThread t, long address) {
    MemoryOp m = (MemoryOp) op;
    note(op, t);
    if (isWindow(m, t, address)) {
      long at = window(m, t, "load", address);
      t.port.high = MemoryOp.rawLoad(at + 8, 8);
      return MemoryOp.rawLoad(at, 8);
    }
    t.checkAligned("load", address, m.bytes);
    return t.port.load128(address, m.access);
  }

  /** A store of up to 8 bytes. */
  public static void store(long address, long value, Op op, VmThread t) {
    MemoryOp m = (MemoryOp) op;
    note(op, t);
    if (isWindow(m, t, address)) {
      MemoryOp.rawStore(window(m, t, "store", address), m.bytes, value);
      return;
    }
    ThreadPort port = t.port;
    t.checkAligned("store", address, m.bytes);
    switch (m.bytes) {
      case 1 -> port.store8(address, value, m.access);
      case 2 -> port.store16(address, value, m.access);
      case 4 -> port.store32(address, value, m.access);
      default -> port.store64(address, value, m.access);
    }
  }

  /** A store of 16 bytes. */
  public static void storeWide(long address, long low, long high, Op op, VmThread t) {
    MemoryOp m = (MemoryOp) op;
    note(op, t);
    if (isWindow(m, t, address)) {
      long at = window(m, t, "store", address);
      MemoryOp.rawStore(at, 8, low);
      MemoryOp.rawStore(at + 8, 8, high);
      return;
    }
    t.checkAligned("store", address, m.bytes);
    t.port.store128(address, low, high, m.access);
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
