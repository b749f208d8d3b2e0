package dev.doorbell.ptxvm.engine.ops.memory;

import dev.doorbell.core.fabric.Access;
import dev.doorbell.core.fabric.Rmw;
import dev.doorbell.core.fabric.ThreadPort;
import dev.doorbell.ptxvm.engine.decode.Assembler;
import dev.doorbell.ptxvm.engine.decode.Assembler.Unsupported;
import dev.doorbell.ptxvm.engine.machine.Op;
import dev.doorbell.ptxvm.engine.machine.Op.Stop;
import dev.doorbell.ptxvm.engine.machine.VmThread;
import dev.doorbell.ptxvm.engine.machine.VmThread.Fault;
import dev.doorbell.ptxvm.engine.ops.arithmetic.HalfRows;
import dev.doorbell.ptxvm.engine.ops.memory.Atomic.AtomicVector;
import dev.doorbell.ptxvm.ir.Instruction;
import dev.doorbell.ptxvm.ir.Operand;
import dev.doorbell.ptxvm.ir.ScalarType;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.LongBinaryOperator;
import java.util.function.LongUnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * {@code multimem}: one access of the thread to the same place in each member of a multicast
 * object, in the order of the members.
 */
public abstract class Multimem extends MemoryOp {
  private static final int MOST_BYTES = 16;
  private static final long[] NONE = {};
  private static final Set<String> VECTORS = Set.of("v2", "v4", "v8");

  int[] registers = {};

  /** Bits of one register in memory. */
  int bits;

  public static Op make(Instruction i, Assembler a) throws Unsupported {
    Form form = Form.of(i);
    if (form == null) {
      return new Stop("this form of multimem is not supported");
    }
    boolean loads = form.kind.equals("ld_reduce");
    List<Operand> operands = i.operands();
    List<Operand> data =
        form.vector == 1
            ? List.of(operands.get(loads ? 0 : 1))
            : AtomicVector.elements(operands.get(loads ? 0 : 1));
    if (data.size() != form.vector) {
      throw Unsupported.malformed("%d registers in braces are needed".formatted(form.vector));
    }
    int[] registers = new int[form.vector];
    for (int e = 0; e < registers.length; e++) {
      registers[e] = loads ? a.result(data.get(e)) : a.source(data.get(e), form.type);
    }
    Multimem op =
        switch (form.kind) {
          case "st" -> new Store();
          case "red" -> new Reduce(Atomic.operation(form.operation, form.type));
          default ->
              new LoadReduce(
                  Reduction.of(form.operation, form.type, form.single), form.elementBits());
        };
    op.locate(form.rest, operands.get(loads ? 1 : 0), a);
    op.registers = registers;
    op.bits = form.type.bits();
    op.bytes = form.type.bytes() * form.vector;
    boolean reduces = form.kind.equals("red");
    op.access =
        access(form.rest, reduces ? Access.RELAXED | Access.SYS : Access.WEAK)
            | (reduces ? Access.REDUCTION : 0);
    op.strong = loads && isStrong(op.access);
    return op;
  }

  /**
   * Form of an instruction.
   *
   * @param rest the instruction with the modifiers that every access has
   * @param vector registers of the data operand
   * @param single sums are kept in f32 ({@code .acc::f32})
   */
  private record Form(
      String kind,
      String operation,
      ScalarType type,
      int vector,
      boolean single,
      Instruction rest) {

    /** Null for what PTX does not have, or has for types that are not executed. */
    static @Nullable Form of(Instruction i) {
      List<String> rest = new ArrayList<>(i.modifiers());
      String kind = rest.removeFirst();
      ScalarType type = rest.isEmpty() ? null : ScalarType.of(rest.getLast());
      boolean stores = kind.equals("st");
      if (type == null || !(stores || kind.equals("red") || kind.equals("ld_reduce"))) {
        return null;
      }
      String operation = "";
      int vector = 1;
      for (String modifier : i.modifiers()) {
        if (VECTORS.contains(modifier)) {
          vector = modifier.charAt(1) - '0';
          rest.remove(modifier);
        } else if (!stores && Set.of("add", "min", "max", "and", "or", "xor").contains(modifier)) {
          operation = modifier;
          rest.remove(modifier);
        }
      }
      boolean single = rest.remove("acc::f32");
      Form form = new Form(kind, operation, type, vector, single, i.with(rest, i.operands()));
      return form.isPossible() ? form : null;
    }

    private boolean isPossible() {
      boolean half = elementBits() == 16;
      boolean floats = half || type == ScalarType.F32 || type == ScalarType.F64;
      int size = type.bytes() * vector;
      boolean sized = size == 4 || size == 8 || size == MOST_BYTES;
      if (!sized || type.bits() < 16 || type == ScalarType.U16X2 || type == ScalarType.S16X2) {
        return false;
      }
      if (vector > 1 && (!floats || type == ScalarType.F64)) {
        return false;
      }
      if (half && type.family() != ScalarType.Family.FLOAT && !packed()) {
        return false;
      }
      boolean loads = kind.equals("ld_reduce");
      if (single && !(loads && half && operation.equals("add"))) {
        return false;
      }
      return switch (operation) {
        case "" -> kind.equals("st");
        case "and", "or", "xor" -> type.family() == ScalarType.Family.BITS;
        case "add" -> type.family() != ScalarType.Family.BITS && type != ScalarType.S64;
        default -> floats ? half && loads : type.family() != ScalarType.Family.BITS;
      };
    }

    private boolean packed() {
      return type.family() == ScalarType.Family.PACKED;
    }

    /** Bits of what is reduced by itself: halves of pairs are. */
    int elementBits() {
      return packed() ? type.bits() / 2 : type.bits();
    }
  }

  /** Returns the address, which has to be aligned, and accounts for the instruction. */
  final long account(VmThread t, long[] r) {
    long address = r[base] + offset;
    t.checkAligned("multimem access", address, bytes);
    t.account();
    return address;
  }

  final long[] members(VmThread t, long address) {
    long[] members = space.isWindow() ? null : t.grid.memory.members(address, bytes);
    if (members == null) {
      throw new Fault(
          "multimem access of %d bytes at 0x%x, which is not in a multicast object: %s"
              .formatted(bytes, address, t.grid.memory.describe(address, bytes)));
    }
    return members;
  }

  /** The registers from {@code first} on, up to 8 bytes of them. */
  final long gather(long[] r, int first) {
    long value = 0;
    for (int e = Math.min(registers.length, first + Long.SIZE / bits) - 1; e >= first; e--) {
      long one = r[registers[e]];
      value = bits == Long.SIZE ? one : (value << bits) | (one & ((1L << bits) - 1));
    }
    return value;
  }

  /** {@code multimem.st}. */
  private static final class Store extends Multimem {
    @Override
    public @Nullable Op execute(VmThread t, long[] r) {
      long low = gather(r, 0);
      long high = bytes == MOST_BYTES ? gather(r, Long.SIZE / bits) : 0;
      ThreadPort port = t.port;
      long address = account(t, r);
      boolean together = port.storeMembers(address, bytes, low, high, access);
      if (together && port.parked) {
        return t.park(this);
      }
      long[] members = together ? NONE : members(t, address);
      for (; t.progress < members.length; t.progress++) {
        long at = members[(int) t.progress];
        store(port, at, bytes, low, high, access);
        if (port.parked) {
          return t.park(this);
        }
      }
      t.progress = 0;
      t.polling.acted();
      return next;
    }
  }

  /** {@code multimem.red}: each register is an atomic of its own in each member. */
  private static final class Reduce extends Multimem {
    private final Rmw operation;

    Reduce(Rmw operation) {
      this.operation = operation;
    }

    @Override
    public @Nullable Op execute(VmThread t, long[] r) {
      long[] members = members(t, account(t, r));
      int each = bits / Byte.SIZE;
      for (; t.progress < (long) members.length * registers.length; t.progress++) {
        int e = (int) t.progress % registers.length;
        long at = members[(int) t.progress / registers.length] + (long) e * each;
        t.port.atomic(operation, at, each, r[registers[e]], 0, access);
        if (t.port.parked) {
          return t.park(this);
        }
      }
      t.progress = 0;
      t.polling.acted();
      return next;
    }
  }

  /** {@code multimem.ld_reduce}. */
  private static final class LoadReduce extends Multimem {
    private final Reduction reduction;
    private final int elementBits;

    LoadReduce(Reduction reduction, int elementBits) {
      this.reduction = reduction;
      this.elementBits = elementBits;
    }

    @Override
    public @Nullable Op execute(VmThread t, long[] r) {
      long[] partial = t.partial();
      ThreadPort port = t.port;
      long address = account(t, r);
      long[] together = port.loadMembers(address, bytes, access);
      if (together != null && port.parked) {
        return t.park(this);
      }
      long[] members = together != null ? NONE : members(t, address);
      int count = together != null ? together.length / 2 : members.length;
      for (; t.progress < count; t.progress++) {
        int member = (int) t.progress;
        long at = together != null ? address : members[member];
        long low = together != null ? together[2 * member] : load(port, at, bytes, access);
        if (port.parked) {
          return t.park(this);
        }
        long high =
            together != null ? together[2 * member + 1] : bytes == MOST_BYTES ? port.high : 0;
        t.polling.loaded(at, low ^ (high * 31));
        if (strong) {
          t.polling.loadedStrongly(at, Math.min(bytes, Long.BYTES), low);
          if (bytes == MOST_BYTES) {
            t.polling.loadedStrongly(at + Long.BYTES, Long.BYTES, high);
          }
        }
        for (int e = 0; e < bytes * Byte.SIZE / elementBits; e++) {
          int bit = e * elementBits;
          long word = bit < Long.SIZE ? low >>> bit : high >>> (bit - Long.SIZE);
          long value = elementBits == Long.SIZE ? word : word & ((1L << elementBits) - 1);
          partial[e] =
              t.progress == 0
                  ? reduction.first.applyAsLong(value)
                  : reduction.join.applyAsLong(partial[e], value);
        }
      }
      t.progress = 0;
      int parts = bits / elementBits;
      for (int i = 0; i < registers.length; i++) {
        long value = 0;
        for (int part = parts - 1; part >= 0; part--) {
          long one = reduction.result.applyAsLong(partial[i * parts + part]);
          value = parts == 1 ? one : (value << elementBits) | one;
        }
        r[registers[i]] = value;
      }
      return next;
    }
  }

  /**
   * Combines any number of values of one type: {@code add}, {@code min} and their kin.
   *
   * @param first gives the state after the first value
   * @param join adds one value to a state
   * @param result gives the value that a state stands for
   */
  private record Reduction(
      LongUnaryOperator first, LongBinaryOperator join, LongUnaryOperator result) {
    /**
     * The reduction of values of {@code type}, or of the halves of its pairs.
     *
     * @param single sums of 16-bit floats are kept in f32 and rounded once
     */
    static Reduction of(String operation, ScalarType type, boolean single) throws Unsupported {
      ScalarType element = type.family() == ScalarType.Family.PACKED ? HalfRows.half(type) : type;
      if (single) {
        return new Reduction(
            bits -> HalfRows.widen(element, bits),
            (sum, bits) -> Rmw.ADD_F32.apply(sum, Float.BYTES, HalfRows.widen(element, bits), 0),
            sum -> HalfRows.round(element, Float.intBitsToFloat((int) sum)));
      }
      LongUnaryOperator same = LongUnaryOperator.identity();
      boolean half = element == ScalarType.F16 || element == ScalarType.BF16;
      if (half && !operation.equals("add")) {
        return new Reduction(same, HalfRows.extreme(element, operation.equals("max")), same);
      }
      Rmw rmw = Atomic.operation(operation, element);
      return new Reduction(same, (a, b) -> rmw.apply(a, element.bytes(), b, 0), same);
    }
  }
}
