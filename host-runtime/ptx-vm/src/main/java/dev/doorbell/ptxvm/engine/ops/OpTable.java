package dev.doorbell.ptxvm.engine.ops;

import dev.doorbell.ptxvm.engine.decode.Assembler;
import dev.doorbell.ptxvm.engine.decode.Assembler.Unsupported;
import dev.doorbell.ptxvm.engine.machine.Op;
import dev.doorbell.ptxvm.engine.machine.Op.Stop;
import dev.doorbell.ptxvm.engine.ops.arithmetic.Carry;
import dev.doorbell.ptxvm.engine.ops.arithmetic.Compare;
import dev.doorbell.ptxvm.engine.ops.arithmetic.Convert;
import dev.doorbell.ptxvm.engine.ops.arithmetic.FloatRows;
import dev.doorbell.ptxvm.engine.ops.arithmetic.HalfRows;
import dev.doorbell.ptxvm.engine.ops.arithmetic.IntegerRows;
import dev.doorbell.ptxvm.engine.ops.arithmetic.Moves;
import dev.doorbell.ptxvm.engine.ops.arithmetic.Rows;
import dev.doorbell.ptxvm.engine.ops.arithmetic.Rows.BinaryOp;
import dev.doorbell.ptxvm.engine.ops.arithmetic.Rows.LongTernaryOperator;
import dev.doorbell.ptxvm.engine.ops.arithmetic.Rows.TernaryOp;
import dev.doorbell.ptxvm.engine.ops.arithmetic.Rows.UnaryOp;
import dev.doorbell.ptxvm.engine.ops.control.BarrierOp;
import dev.doorbell.ptxvm.engine.ops.control.Branch;
import dev.doorbell.ptxvm.engine.ops.control.Call;
import dev.doorbell.ptxvm.engine.ops.control.Flow;
import dev.doorbell.ptxvm.engine.ops.control.WarpOps;
import dev.doorbell.ptxvm.engine.ops.memory.AsyncCopy;
import dev.doorbell.ptxvm.engine.ops.memory.Atomic;
import dev.doorbell.ptxvm.engine.ops.memory.Fence;
import dev.doorbell.ptxvm.engine.ops.memory.Load;
import dev.doorbell.ptxvm.engine.ops.memory.MBarrierOp;
import dev.doorbell.ptxvm.engine.ops.memory.Multimem;
import dev.doorbell.ptxvm.engine.ops.memory.Store;
import dev.doorbell.ptxvm.ir.Instruction;
import dev.doorbell.ptxvm.ir.Opcode;
import dev.doorbell.ptxvm.ir.Operand;
import dev.doorbell.ptxvm.ir.Operand.Register;
import dev.doorbell.ptxvm.ir.ScalarType;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.TreeMap;
import java.util.function.LongBinaryOperator;
import java.util.function.LongUnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The opcode table. An opcode is one row, found by its PTX name, with one small function: a
 * function on register values for whatever only computes, a factory for whatever does more.
 */
public final class OpTable {
  interface Factory {
    Op make(Instruction instruction, Assembler assembler) throws Unsupported;
  }

  private static final Map<String, Factory> FACTORIES = new HashMap<>();
  private static final LongUnaryOperator NOTHING = LongUnaryOperator.identity();

  static {
    factory("ld ldu", Load::make);
    factory("st", Store::make);
    factory("atom red", Atomic::make);
    factory("multimem", Multimem::make);
    factory("fence membar", Fence::make);
    factory("cp", AsyncCopy::make);
    factory("mbarrier", MBarrierOp::make);
    factory(
        "prefetch prefetchu discard applypriority pmevent setmaxnreg griddepcontrol",
        (i, a) -> Op.of((t, r) -> {}));
    factory("createpolicy", OpTable::policy);

    factory("mov", Moves::move);
    factory("cvta", Moves::convertAddress);
    factory("isspacep", Moves::isSpace);
    factory("cvt", Convert::make);

    factory("setp", Compare::setPredicate);
    factory("set", Compare::set);
    factory("selp", Compare::select);
    factory("slct", Compare::selectBySign);
    factory("addc subc madc", Carry::make);
    factory("lop3", OpTable::anyLogic);
    factory("bfi", OpTable::insertField);

    factory("bra", Branch::make);
    factory("brx", Flow::indexed);
    factory("call", Call::make);
    factory("ret", Flow::ret);
    factory("exit", Flow::exit);
    factory("trap brkpt", Flow::trap);
    factory("nanosleep", Flow::sleep);

    factory("bar barrier", BarrierOp::make);
    factory("shfl", WarpOps::shuffle);
    factory("vote", WarpOps::vote);
    factory("match", WarpOps::match);
    factory("redux", WarpOps::reduce);
    factory("elect", WarpOps::elect);
    factory("activemask", WarpOps::activeMask);
  }

  private OpTable() {}

  /** Made when the first instruction asks: integers alone are many small classes. */
  private static final class Integers {
    static final Rows ROWS = new Rows();

    static {
      IntegerRows.addTo(ROWS);
    }
  }

  private static final class Floats {
    static final Rows ROWS = new Rows();

    static {
      FloatRows.addTo(ROWS);
      HalfRows.addTo(ROWS);
    }
  }

  private static void factory(String names, Factory factory) {
    for (String name : names.split(" ", -1)) {
      FACTORIES.put(name, factory);
    }
  }

  /** Returns the forms of each instruction by name: in words, or those of its rows. */
  static Map<String, String> forms() {
    Map<String, String> forms = new TreeMap<>();
    FACTORIES.keySet().forEach(name -> forms.put(name, Opcode.of(name).forms()));
    for (Rows rows : List.of(Integers.ROWS, Floats.ROWS)) {
      for (String row : rows.names()) {
        int dot = row.indexOf('.');
        forms.merge(row.substring(0, dot), row.substring(dot), (one, two) -> one + " " + two);
      }
    }
    return forms;
  }

  public static Op make(Instruction instruction, Assembler assembler) throws Unsupported {
    Factory factory = FACTORIES.get(instruction.name());
    try {
      if (factory != null) {
        return factory.make(instruction, assembler);
      }
      String refusal = Opcode.of(instruction.name()).refusal();
      if (refusal != null) {
        return new Stop(refusal);
      }
      if (instruction.has("cc")) {
        return Carry.make(instruction, assembler);
      }
      return arithmetic(instruction, assembler);
    } catch (IndexOutOfBoundsException | NoSuchElementException e) {
      throw Unsupported.malformed("operands or modifiers are missing");
    }
  }

  private static Op arithmetic(Instruction i, Assembler a) throws Unsupported {
    List<String> modifiers = new ArrayList<>(i.modifiers());
    ScalarType type = typeLast(i.name(), modifiers);
    if (type == null) {
      throw new Unsupported("this form is not supported");
    }
    boolean pair = type == ScalarType.F32X2;
    boolean mixed =
        isHalf(type)
            && modifiers.contains("f32")
            && List.of("add", "sub", "fma").contains(i.name());
    ScalarType operands = type;
    if (pair || mixed) {
      type = ScalarType.F32;
      modifiers.removeLast();
      modifiers.remove("f32");
      modifiers.add("f32");
    }
    boolean floating =
        type.family() == ScalarType.Family.FLOAT || type.family() == ScalarType.Family.PACKED;
    boolean single = type == ScalarType.F32;
    boolean flush = floating && type != ScalarType.F64 && modifiers.remove("ftz");
    boolean saturate = floating && modifiers.remove("sat");
    if (floating) {
      modifiers.remove("rn");
    }
    String name = i.name() + "." + String.join(".", modifiers);
    Rows.@Nullable Row row = (floating ? Floats.ROWS : Integers.ROWS).get(name);
    if (row == null && floating && modifiers.remove("ftz")) {
      name = i.name() + "." + String.join(".", modifiers); // of f64, where it means nothing
      row = Floats.ROWS.get(name);
    }
    if (row == null) {
      throw new Unsupported("this form is not supported");
    }
    if (row instanceof Rows.Two(LongBinaryOperator f) && i.operands().size() == 4) {
      if (!i.name().equals("min") && !i.name().equals("max")) {
        throw Unsupported.malformed("two sources are needed");
      }
      row = new Rows.Three((x, y, z) -> f.applyAsLong(f.applyAsLong(x, y), z));
    }
    if (flush || saturate) {
      ScalarType as = type;
      LongUnaryOperator before =
          !flush ? NOTHING : single ? FloatRows::flush : x -> HalfRows.flush(as, x);
      LongUnaryOperator after = saturate ? before.andThen(saturation(type)) : before;
      row = wrap(row, before, after);
      name += (flush ? ".ftz" : "") + (saturate ? ".sat" : "");
    }
    if (pair) {
      return build(name + "x2", FloatRows.inPairs(row), ScalarType.F32X2, i, a);
    }
    return mixed
        ? build(name + "." + operands.ptx(), HalfRows.mixed(row, operands), type, i, a)
        : build(name, row, type, i, a);
  }

  private static boolean isHalf(ScalarType type) {
    return type == ScalarType.F16 || type == ScalarType.BF16;
  }

  /** Moves the type to the end of the modifiers; nvcc writes {@code min.s32.relu}, too. */
  private static @Nullable ScalarType typeLast(String name, List<String> modifiers) {
    if (name.equals("prmt")) {
      return ScalarType.B32;
    }
    for (int at = modifiers.size() - 1; at >= 0; at--) {
      ScalarType type = ScalarType.of(modifiers.get(at));
      if (type != null) {
        modifiers.add(modifiers.remove(at));
        return type;
      }
    }
    return null;
  }

  private static LongUnaryOperator saturation(ScalarType type) {
    return switch (type) {
      case F32 -> FloatRows::saturateSingle;
      case F64 -> FloatRows::saturateReal;
      default -> x -> HalfRows.saturate(type, x);
    };
  }

  private static Rows.Row wrap(Rows.Row row, LongUnaryOperator before, LongUnaryOperator after) {
    return switch (row) {
      case Rows.One(LongUnaryOperator f) -> new Rows.One(before.andThen(f).andThen(after));
      case Rows.Two(LongBinaryOperator f) ->
          new Rows.Two(
              (x, y) ->
                  after.applyAsLong(f.applyAsLong(before.applyAsLong(x), before.applyAsLong(y))));
      case Rows.Three(LongTernaryOperator f) ->
          new Rows.Three(
              (x, y, z) ->
                  after.applyAsLong(
                      f.apply(
                          before.applyAsLong(x), before.applyAsLong(y), before.applyAsLong(z))));
    };
  }

  private static Op build(String name, Rows.Row row, ScalarType type, Instruction i, Assembler a)
      throws Unsupported {
    int d = a.result(i.operands().getFirst());
    return switch (row) {
      case Rows.One(LongUnaryOperator f) -> UnaryOp.of(name, f, d, operand(i, 1, type, a));
      case Rows.Two(LongBinaryOperator f) ->
          BinaryOp.of(name, f, d, operand(i, 1, type, a), operand(i, 2, type, a));
      case Rows.Three(LongTernaryOperator f) ->
          TernaryOp.of(
              name,
              f,
              d,
              operand(i, 1, type, a),
              operand(i, 2, type, a),
              operand(i, 3, i.has("wide") ? wider(type) : type, a));
    };
  }

  private static int operand(Instruction i, int index, ScalarType type, Assembler a)
      throws Unsupported {
    Operand operand = i.operands().get(index);
    if (operand instanceof Operand.Not(Register register)) {
      throw new Unsupported("!" + register.name() + " is not supported here");
    }
    return a.source(operand, type);
  }

  private static ScalarType wider(ScalarType type) {
    return type.bits() == 16 ? ScalarType.B32 : ScalarType.B64;
  }

  /** {@code lop3.b32 d, a, b, c, table}. */
  private static Op anyLogic(Instruction i, Assembler a) throws Unsupported {
    if (i.modifiers().size() != 1 || !(i.operands().get(4) instanceof Operand.Int(long table))) {
      throw new Unsupported("this form is not supported");
    }
    int lut = (int) table & 0xff;
    return TernaryOp.of(
        "lop3." + lut,
        (x, y, z) -> logic(lut, x, y, z),
        a.result(i.operands().getFirst()),
        a.source(i.operands().get(1), ScalarType.B32),
        a.source(i.operands().get(2), ScalarType.B32),
        a.source(i.operands().get(3), ScalarType.B32));
  }

  /** Row {@code abc} of the truth table is bit {@code 4a+2b+c} of {@code lut}. */
  private static long logic(int lut, long x, long y, long z) {
    long result = 0;
    for (int row = 0; row < 8; row++) {
      if ((lut >>> row & 1) != 0) {
        result |= ((row & 4) != 0 ? x : ~x) & ((row & 2) != 0 ? y : ~y) & ((row & 1) != 0 ? z : ~z);
      }
    }
    return result & 0xffffffffL;
  }

  /** {@code bfi.type d, a, b, position, length}. */
  private static Op insertField(Instruction i, Assembler a) throws Unsupported {
    ScalarType type = Assembler.type(i);
    int width = type.bits();
    int d = a.result(i.operands().getFirst());
    int from = a.source(i.operands().get(1), type);
    int into = a.source(i.operands().get(2), type);
    int position = a.source(i.operands().get(3), ScalarType.U32);
    int length = a.source(i.operands().get(4), ScalarType.U32);
    return Op.of(
        (t, r) -> {
          int at = IntegerRows.place(r[position], width);
          int count = Math.min(IntegerRows.place(r[length], width), width - at);
          long field = count > 0 ? (count == 64 ? -1L : (1L << count) - 1) << at : 0;
          r[d] = (r[into] & ~field) | (r[from] << at & field);
        });
  }

  /** {@code createpolicy}: of a cache that is not there. */
  private static Op policy(Instruction i, Assembler a) throws Unsupported {
    return UnaryOp.of(
        "createpolicy", x -> x, a.result(i.operands().getFirst()), a.kernel().constant(0));
  }
}
