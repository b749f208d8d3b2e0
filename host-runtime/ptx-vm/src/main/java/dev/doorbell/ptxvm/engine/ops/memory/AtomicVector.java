package dev.doorbell.ptxvm.engine.ops.memory;

import dev.doorbell.core.fabric.Access;
import dev.doorbell.core.fabric.Rmw;
import dev.doorbell.core.fabric.ThreadPort;
import dev.doorbell.ptxvm.engine.decode.Assembler;
import dev.doorbell.ptxvm.engine.decode.Assembler.Unsupported;
import dev.doorbell.ptxvm.engine.machine.Op;
import dev.doorbell.ptxvm.engine.machine.VmThread;
import dev.doorbell.ptxvm.ir.Instruction;
import dev.doorbell.ptxvm.ir.Operand;
import dev.doorbell.ptxvm.ir.ScalarType;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * {@code atom.add} and {@code red.add} on vectors: each element is an atomic of its own, the whole
 * is not (PTX ISA, {@code atom}).
 */
final class AtomicVector extends MemoryOp {
  private final Rmw operation;
  private final int element;
  private final int[] to;
  private final int[] from;

  private AtomicVector(Rmw operation, int element, int[] to, int[] from) {
    this.operation = operation;
    this.element = element;
    this.to = to;
    this.from = from;
  }

  public static Op make(Instruction i, Assembler a) throws Unsupported {
    ScalarType type = Atomic.typed(i);
    if (!i.has("add") || type.family() == ScalarType.Family.BITS) {
      throw new Unsupported("vector atomics only add floats");
    }
    boolean reduces = i.name().equals("red");
    int at = reduces ? 0 : 1;
    List<Operand> values = elements(i.operands().get(at + 1));
    int[] from = new int[values.size()];
    int[] to = new int[values.size()];
    List<Operand> results = reduces ? List.of() : elements(i.operands().getFirst());
    if (!reduces && results.size() != to.length) {
      throw new Unsupported("%d results in braces are needed".formatted(to.length));
    }
    for (int e = 0; e < from.length; e++) {
      from[e] = a.source(values.get(e), type);
      to[e] = reduces ? a.kernel().trash() : a.result(results.get(e));
    }
    AtomicVector atomic = new AtomicVector(Atomic.operation("add", type), type.bytes(), to, from);
    Instruction rest = Atomic.without(Atomic.without(i, "add"), "v8");
    atomic.locate(rest, i.operands().get(at), a);
    if (atomic.space.isWindow()) {
      throw new Unsupported("vector atomics are for global memory");
    }
    atomic.bytes = type.bytes() * from.length;
    atomic.access = access(rest, Access.RELAXED) | (reduces ? Access.REDUCTION : 0);
    return atomic;
  }

  static List<Operand> elements(Operand operand) throws Unsupported {
    if (operand instanceof Operand.Vector(List<Operand> elements)) {
      return elements;
    }
    throw new Unsupported("registers in braces are needed");
  }

  @Override
  public @Nullable Op execute(VmThread t, long[] r) {
    long address = r[base] + offset;
    t.checkAligned("atomic", address, bytes);
    ThreadPort port = t.port;
    t.account();
    while (t.progress < from.length) {
      int e = (int) t.progress;
      long old =
          port.atomic(operation, address + (long) e * element, element, r[from[e]], 0, access);
      if (port.parked) {
        return t.park(this);
      }
      r[to[e]] = old;
      t.progress++;
    }
    t.progress = 0;
    t.polling.acted();
    return next;
  }
}
