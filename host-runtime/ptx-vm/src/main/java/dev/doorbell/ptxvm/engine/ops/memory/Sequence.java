package dev.doorbell.ptxvm.engine.ops.memory;

import dev.doorbell.core.fabric.Access;
import dev.doorbell.core.fabric.ThreadPort;
import dev.doorbell.ptxvm.engine.decode.Assembler;
import dev.doorbell.ptxvm.engine.decode.Assembler.Unsupported;
import dev.doorbell.ptxvm.engine.machine.Op;
import dev.doorbell.ptxvm.engine.machine.VmThread;
import dev.doorbell.ptxvm.engine.ops.memory.AsyncCopy.Ends;
import dev.doorbell.ptxvm.engine.ops.memory.MBarrierOp.MBarrier;
import dev.doorbell.ptxvm.ir.Dataflow;
import dev.doorbell.ptxvm.ir.Instruction;
import dev.doorbell.ptxvm.ir.Operand;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** An instruction that is several operations, one after the other; each may wait for its port. */
final class Sequence extends Op {
  private static final int WIDEST = 32;

  interface Factory {
    Op make(Instruction instruction, Assembler assembler) throws Unsupported;
  }

  private final Op[] parts;

  private Sequence(Op... parts) {
    this.parts = parts;
    for (Op part : parts) {
      part.follow(this);
    }
  }

  @Override
  public @Nullable Op execute(VmThread t, long[] r) {
    while (t.progress < parts.length) {
      if (parts[(int) t.progress].execute(t, r) == null) {
        t.op = this;
        return null;
      }
      t.progress++;
    }
    t.progress = 0;
    return next;
  }

  /** Returns whether an access moves 32 bytes. */
  static boolean isWide(Instruction i) throws Unsupported {
    int elements = i.has("v8") ? 8 : i.has("v4") ? 4 : 1;
    return elements * Assembler.type(i).bytes() == WIDEST;
  }

  /**
   * {@code .v8.b32} and {@code .v4.b64}: two accesses of 16 bytes, whose order PTX leaves open. The
   * half that loads into the register of the address comes last.
   *
   * @param at index of the address among the operands
   */
  static Op halves(Instruction i, int at, Factory factory, Assembler a) throws Unsupported {
    if (!(i.operands().get(1 - at) instanceof Operand.Vector(List<Operand> elements))
        || !(i.operands().get(at) instanceof Operand.Address(Operand base, long offset))
        || elements.size() != (i.has("v8") ? 8 : 4)) {
      throw Unsupported.malformed("an address and registers in braces are needed");
    }
    List<Operand> lower = elements.subList(0, elements.size() / 2);
    List<Operand> upper = elements.subList(lower.size(), elements.size());
    Op low = factory.make(half(i, at, lower, base, offset), a);
    Op high = factory.make(half(i, at, upper, base, offset + WIDEST / 2), a);
    int slot = a.base(base);
    long by = offset + a.offset(base);
    String name = i.name().equals("st") ? "store" : "load";
    Op aligned = Op.of((t, r) -> t.checkAligned(name, r[slot] + by, WIDEST));
    return Dataflow.hasResult(i) && base != null && lower.contains(base)
        ? new Sequence(aligned, high, low)
        : new Sequence(aligned, low, high);
  }

  private static Instruction half(
      Instruction i, int at, List<Operand> elements, @Nullable Operand base, long offset) {
    List<String> modifiers = new ArrayList<>(i.modifiers());
    modifiers.replaceAll(word -> word.equals("v8") ? "v4" : word.equals("v4") ? "v2" : word);
    Operand address = new Operand.Address(base, offset);
    Operand vector = new Operand.Vector(List.copyOf(elements));
    return i.with(modifiers, at == 0 ? List.of(address, vector) : List.of(vector, address));
  }

  /**
   * {@code st.async} and {@code red.async}. To shared memory: the access, then its bytes at the
   * mbarrier, both as an asynchronous copy. With {@code .mmio}: a release of what came before, then
   * the access.
   */
  static Op asynchronous(Instruction i, Factory factory, Assembler a) throws Unsupported {
    List<String> modifiers = new ArrayList<>(i.modifiers());
    modifiers.remove("async");
    if (modifiers.remove("mmio")) {
      modifiers.set(modifiers.indexOf("release"), "relaxed");
      if (i.name().equals("st")) {
        modifiers.addFirst("mmio");
      }
      int scope = i.has("sys") ? Access.SYS : Access.GPU;
      return new Sequence(
          new Fence(Access.RELEASE | scope, false),
          factory.make(i.with(modifiers, i.operands()), a));
    }
    if (!modifiers.remove("mbarrier::complete_tx::bytes")) {
      throw Unsupported.malformed("an mbarrier is needed");
    }
    Operand barrier = i.operands().get(2);
    int slot = Ends.base(barrier, a);
    long offset = Ends.offset(barrier, a);
    int elements = i.has("v4") ? 4 : i.has("v2") ? 2 : 1;
    int bytes = elements * Assembler.type(i).bytes();
    Op complete =
        Op.of(
            (t, r) -> {
              MBarrier.complete(t, r[slot] + offset, bytes);
              t.port.copied();
            });
    return new Sequence(
        Op.of((t, r) -> t.port.copying(ThreadPort.Copies.STORE)),
        factory.make(i.with(modifiers, i.operands().subList(0, 2)), a),
        complete);
  }
}
