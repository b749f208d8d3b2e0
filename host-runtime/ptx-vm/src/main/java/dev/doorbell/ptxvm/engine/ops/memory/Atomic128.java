package dev.doorbell.ptxvm.engine.ops.memory;

import dev.doorbell.core.fabric.Access;
import dev.doorbell.core.fabric.ThreadPort;
import dev.doorbell.core.memory.RawMemory;
import dev.doorbell.ptxvm.engine.decode.Assembler;
import dev.doorbell.ptxvm.engine.decode.Assembler.Unsupported;
import dev.doorbell.ptxvm.engine.decode.Space;
import dev.doorbell.ptxvm.engine.machine.Op;
import dev.doorbell.ptxvm.engine.machine.VmThread;
import dev.doorbell.ptxvm.ir.Instruction;
import dev.doorbell.ptxvm.ir.Operand;
import dev.doorbell.ptxvm.ir.ScalarType;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** {@code atom.exch.b128} and {@code atom.cas.b128}. */
final class Atomic128 extends MemoryOp {
  private final boolean compares;
  private final int[] to;
  private final int[] compare;
  private final int[] value;

  private Atomic128(boolean compares, int[] to, int[] compare, int[] value) {
    this.compares = compares;
    this.to = to;
    this.compare = compare;
    this.value = value;
  }

  public static Op make(Instruction i, Assembler a) throws Unsupported {
    boolean compares = i.has("cas");
    if (!i.name().equals("atom") || (!compares && !i.has("exch"))) {
      throw new Unsupported("128-bit atomics compare and swap, or exchange");
    }
    List<Operand> operands = i.operands();
    int[] to = new int[2];
    if (operands.getFirst() instanceof Operand.Sink) {
      to[0] = a.kernel().trash();
      to[1] = to[0];
    } else {
      for (int e = 0; e < 2; e++) {
        to[e] = a.result(halves(operands.getFirst()).get(e));
      }
    }
    int[] first = sources(operands.get(2), a);
    Atomic128 atomic =
        new Atomic128(compares, to, first, compares ? sources(operands.get(3), a) : first);
    Instruction rest = Atomic.without(Atomic.without(i, "b128"), compares ? "cas" : "exch");
    atomic.locate(rest, operands.get(1), a);
    atomic.bytes = 16;
    atomic.access = access(rest, Access.RELAXED);
    return atomic;
  }

  private static int[] sources(Operand operand, Assembler a) throws Unsupported {
    List<Operand> halves = halves(operand);
    return new int[] {
      a.source(halves.getFirst(), ScalarType.B64), a.source(halves.getLast(), ScalarType.B64)
    };
  }

  private static List<Operand> halves(Operand operand) throws Unsupported {
    if (operand instanceof Operand.Vector(List<Operand> elements) && elements.size() == 2) {
      return elements;
    }
    throw new Unsupported("a register of 128 bits is needed");
  }

  @Override
  public @Nullable Op execute(VmThread t, long[] r) {
    long address = r[base] + offset;
    if (space.isWindow()) {
      inWindow(r, window(t, "atomic", space == Space.FRAME ? address + t.frame : address));
    } else if (space == Space.GENERIC && t.inWindows(address)) {
      t.checkScratch("atomic", address, bytes);
      inWindow(r, address);
    } else {
      t.checkAligned("atomic", address, bytes);
      t.account();
      ThreadPort port = t.port;
      long low =
          compares
              ? port.compareAndSwap128(
                  address, r[compare[0]], r[compare[1]], r[value[0]], r[value[1]], access)
              : port.exchange128(address, r[value[0]], r[value[1]], access);
      if (port.parked) {
        return t.park(this);
      }
      long high = port.high;
      r[to[1]] = high;
      r[to[0]] = low;
    }
    t.polling.acted();
    return next;
  }

  /** All threads of a block run on one host thread: nothing comes between load and store. */
  private void inWindow(long[] r, long at) {
    long low = RawMemory.getLong(at);
    long high = RawMemory.getLong(at + Long.BYTES);
    if (!compares || (low == r[compare[0]] && high == r[compare[1]])) {
      RawMemory.putLong(at, r[value[0]]);
      RawMemory.putLong(at + Long.BYTES, r[value[1]]);
    }
    r[to[1]] = high;
    r[to[0]] = low;
  }
}
