package dev.doorbell.ptxvm.engine.ops.arithmetic;

import dev.doorbell.ptxvm.engine.decode.Assembler;
import dev.doorbell.ptxvm.engine.decode.Assembler.Unsupported;
import dev.doorbell.ptxvm.engine.decode.Space;
import dev.doorbell.ptxvm.engine.machine.Op;
import dev.doorbell.ptxvm.engine.machine.SpecialRegister;
import dev.doorbell.ptxvm.engine.machine.VmThread;
import dev.doorbell.ptxvm.engine.ops.arithmetic.Rows.BinaryOp;
import dev.doorbell.ptxvm.engine.ops.arithmetic.Rows.UnaryOp;
import dev.doorbell.ptxvm.ir.Instruction;
import dev.doorbell.ptxvm.ir.Operand;
import dev.doorbell.ptxvm.ir.Operand.Register;
import dev.doorbell.ptxvm.ir.ScalarType;
import dev.doorbell.ptxvm.ir.Variable;
import dev.doorbell.ptxvm.ir.Variable.StateSpace;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** {@code mov}, {@code cvta}, {@code isspacep}: values and addresses as they are. */
public final class Moves {
  private Moves() {}

  public static Op move(Instruction i, Assembler a) throws Unsupported {
    Operand to = i.operands().getFirst();
    Operand from = i.operands().get(1);
    if (i.has("b128")) {
      return moveWide(to, from, a);
    }
    ScalarType type = i.modifiers().isEmpty() ? null : ScalarType.of(i.modifiers().getLast());
    if (type == null) {
      throw new Unsupported("type not supported");
    }
    if (to instanceof Operand.Vector(List<Operand> elements)) {
      return unpack(elements, from, type, a);
    }
    if (from instanceof Operand.Vector(List<Operand> elements)) {
      return pack(a.result(to), elements, type, a);
    }
    if (from instanceof Operand.Special(String name) && SpecialRegister.of(name) == null) {
      return readClock(a.result(to), name);
    }
    if (from instanceof Operand.Symbol symbol && a.inFrame(symbol.variable())) {
      return frameAddress(a.result(to), symbol, symbol.generic(), a);
    }
    if (from instanceof Operand.Symbol(Variable variable, long offset, boolean generic)
        && generic
        && variable.space() == StateSpace.SHARED) {
      return fromWindow(
          a.result(to), a.kernel().constant(a.windowOffset(variable) + offset), Space.SHARED, 1);
    }
    if (from instanceof Operand.Not(Register register)) {
      return UnaryOp.of("not.pred", x -> x ^ 1, a.result(to), a.slot(register));
    }
    long mask = a.resultMask(to);
    int source = a.source(from, type);
    return mask == -1L
        ? new Move(a.result(to), source)
        : BinaryOp.of("mov", (x, y) -> x & y, a.result(to), source, a.kernel().constant(mask));
  }

  /** {@code mov.b128}: between registers of 128 bits, which are two halves, and pairs of others. */
  private static Op moveWide(Operand to, Operand from, Assembler a) throws Unsupported {
    if (to instanceof Operand.Vector(List<Operand> into)
        && from instanceof Operand.Vector(List<Operand> halves)
        && into.size() == 2
        && halves.size() == 2) {
      int low = a.result(into.getFirst());
      int high = a.result(into.getLast());
      int fromLow = a.source(halves.getFirst(), ScalarType.B64);
      int fromHigh = a.source(halves.getLast(), ScalarType.B64);
      return Op.of(
          (t, r) -> {
            long upper = r[fromHigh];
            r[low] = r[fromLow];
            r[high] = upper;
          });
    }
    throw new Unsupported("this form is not supported");
  }

  private static Op unpack(List<Operand> to, Operand from, ScalarType type, Assembler a)
      throws Unsupported {
    int[] slots = new int[to.size()];
    for (int e = 0; e < slots.length; e++) {
      slots[e] = a.result(to.get(e));
    }
    return new Unpack(slots, type.bits() / slots.length, a.source(from, type));
  }

  private static Op pack(int to, List<Operand> from, ScalarType type, Assembler a)
      throws Unsupported {
    int bits = type.bits() / from.size();
    ScalarType element =
        switch (bits) {
          case 8 -> ScalarType.B8;
          case 16 -> ScalarType.B16;
          case 32 -> ScalarType.B32;
          default -> throw new Unsupported("vector of this size");
        };
    int[] slots = new int[from.size()];
    for (int e = 0; e < slots.length; e++) {
      slots[e] = a.source(from.get(e), element);
    }
    return new Pack(to, bits, slots);
  }

  /** {@code cvta} and {@code cvta.to}: between an address in a space and a generic one. */
  public static Op convertAddress(Instruction i, Assembler a) throws Unsupported {
    Operand to = i.operands().getFirst();
    Operand from = i.operands().get(1);
    Space space = Space.of(i);
    boolean toSpace = i.has("to");
    if (from instanceof Operand.Symbol symbol && a.inFrame(symbol.variable()) && !toSpace) {
      return frameAddress(a.result(to), symbol, true, a);
    }
    int source = a.source(from, ScalarType.U64);
    return space.isWindow()
        ? fromWindow(a.result(to), source, space, toSpace ? -1 : 1)
        : new Move(a.result(to), source);
  }

  /** The address of a variable in the frame, which moves with calls. */
  private static Op frameAddress(int d, Operand.Symbol symbol, boolean generic, Assembler a)
      throws Unsupported {
    long offset = a.windowOffset(symbol.variable()) + symbol.offset();
    return Op.of((t, r) -> r[d] = t.frame + offset + (generic ? t.localBase : 0));
  }

  private static Op fromWindow(int d, int a, Space space, int sign) {
    return Op.of((t, r) -> r[d] = r[a] + sign * windowBase(t, space));
  }

  /** {@code isspacep.space p, address}. */
  public static Op isSpace(Instruction i, Assembler a) throws Unsupported {
    int d = a.result(i.operands().getFirst());
    int source = a.source(i.operands().get(1), ScalarType.U64);
    Space space = Space.of(i);
    boolean constant = i.has("const");
    return Op.of((t, r) -> r[d] = isIn(t, space, constant, r[source]) ? 1 : 0);
  }

  private static boolean isIn(VmThread t, Space space, boolean constant, long address) {
    return switch (space) {
      case SHARED -> within(address - t.sharedBase, t.sharedSize);
      case LOCAL -> within(address - t.localBase, t.localSize);
      case PARAMETER -> within(address - t.parameterBase, t.parameterSize);
      default -> !constant && !t.inWindows(address);
    };
  }

  private static boolean within(long offset, long size) {
    return offset >= 0 && offset < size;
  }

  /** The clocks: nanoseconds of the fabric, as time and as cycles of a 1 GHz clock. */
  private static Op readClock(int d, String name) {
    int shift = name.endsWith("_hi") ? 32 : 0;
    long mask = name.equals("%clock") || name.contains("_") ? 0xffffffffL : -1L;
    return Op.of(
        (t, r) -> {
          t.account();
          r[d] = t.port.now() >>> shift & mask;
        });
  }

  private static long windowBase(VmThread t, Space space) {
    return switch (space) {
      case SHARED -> t.sharedBase;
      case PARAMETER -> t.parameterBase;
      default -> t.localBase;
    };
  }

  public static final class Move extends Op {
    public final int d;
    public final int a;

    public Move(int d, int a) {
      this.d = d;
      this.a = a;
    }

    @Override
    public @Nullable Op execute(VmThread t, long[] r) {
      r[d] = r[a];
      return next;
    }
  }

  public static final class Unpack extends Op {
    public final int[] d;
    public final int bits;
    public final int a;

    public Unpack(int[] d, int bits, int a) {
      this.d = d;
      this.bits = bits;
      this.a = a;
    }

    @Override
    public @Nullable Op execute(VmThread t, long[] r) {
      long value = r[a];
      long mask = (1L << bits) - 1;
      for (int to : d) {
        r[to] = value & mask;
        value >>>= bits;
      }
      return next;
    }
  }

  public static final class Pack extends Op {
    public final int d;
    public final int bits;
    public final int[] a;

    public Pack(int d, int bits, int[] a) {
      this.d = d;
      this.bits = bits;
      this.a = a;
    }

    @Override
    public @Nullable Op execute(VmThread t, long[] r) {
      long value = 0;
      long mask = (1L << bits) - 1;
      for (int e = a.length - 1; e >= 0; e--) {
        value = value << bits | (r[a[e]] & mask);
      }
      r[d] = value;
      return next;
    }
  }
}
