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
import dev.doorbell.ptxvm.engine.ops.arithmetic.Video;
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
  /** Makes the operation of an instruction. */
  interface Factory {
    Op make(Instruction instruction, Assembler assembler) throws Unsupported;
  }

  private static final Map<String, Factory> FACTORIES = new HashMap<>();
  private static final Map<String, String> FORMS = new HashMap<>();
  private static final Map<String, String> REFUSED = new HashMap<>();
  private static final LongUnaryOperator NOTHING = LongUnaryOperator.identity();

  static {
    factory("ld ldu", "every space, order, scope, type and hint; .v2 .v4 .b128", Load::make);
    factory("st", "every space, order, scope, type and hint; .v2 .v4 .b128", Store::make);
    factory(
        "atom red",
        ".add .min .max .and .or .xor .inc .dec .exch .cas, every order and scope; 16 to 64 bits,"
            + " f16 to f64 and pairs; .exch.b128 .cas.b128; .add.v2 .v4 .v8 of floats",
        Atomic::make);
    factory(
        "multimem",
        ".ld_reduce .st .red in every form of PTX ISA 8.2, .acc::f32 too, over the members of a"
            + " multicast object (class Multicast), one after the other; other forms stop"
            + " a thread that gets there",
        Multimem::make);
    factory("fence membar", ".sc .acq_rel .acquire .release, every scope; .proxy.*", Fence::make);
    factory(
        "cp",
        ".async.ca .cg, groups, .mbarrier.arrive; .async.bulk and .reduce.async.bulk between global"
            + " and shared memory. Done when issued",
        AsyncCopy::make);
    factory(
        "mbarrier",
        ".init .inval .arrive .arrive_drop .expect_tx .complete_tx .test_wait .try_wait .parity"
            + " .pending_count",
        MBarrierOp::make);
    factory(
        "prefetch prefetchu discard applypriority pmevent setmaxnreg griddepcontrol",
        "hints that change nothing here",
        (i, a) -> Op.of((t, r) -> {}));
    factory("createpolicy", "gives 0: there is no cache", OpTable::policy);

    factory("mov", "every type, packing and unpacking, special registers, .b128", Moves::move);
    factory("cvta", "to and from .global .const .shared .local .param", Moves::convertAddress);
    factory("isspacep", ".global .const .shared .local .param", Moves::isSpace);
    factory(
        "cvt",
        "among all integers, f16, bf16, f32, f64, with every rounding, .sat .ftz .relu; pairs from"
            + " two f32; e4m3x2 e5m2x2 from f32 and f16x2 and to f16x2; tf32; .pack.sat",
        Convert::make);

    factory("setp", "every comparison, .and .or .xor, .ftz; pairs", Compare::setPredicate);
    factory("set", "every comparison, .and .or .xor, .ftz; pairs", Compare::set);
    factory("selp", "every type", Compare::select);
    factory("slct", ".s32 .f32", Compare::selectBySign);
    factory("addc subc madc", "with and without .cc, 32 and 64 bits", Carry::make);
    factory("lop3", ".b32", OpTable::anyLogic);
    factory("bfi", ".b32 .b64", OpTable::insertField);

    factory(
        "vadd vsub vabsdiff vmin vmax",
        "parts of operands and of the result, .sat; .add .min .max, merging",
        Video::scalar);
    factory("vshl vshr", ".clamp .wrap, .sat, parts; .add .min .max, merging", Video::scalar);
    factory("vset", "every comparison, parts; .add .min .max, merging", Video::scalar);
    factory("vmad", ".po .sat .shr7 .shr15, parts, negated operands", Video::multiply);
    factory(
        "vadd2 vsub2 vavrg2 vabsdiff2 vmin2 vmax2 vset2 vadd4 vsub4 vavrg4 vabsdiff4 vmin4 vmax4"
            + " vset4",
        "parts of operands, masks, .sat, .add",
        Video::lanes);

    factory("bra", "", Branch::make);
    factory("brx", ".idx", Flow::indexed);
    factory(
        "call",
        "direct and through pointers, recursion; vprintf, __assertfail, free(null)",
        Call::make);
    factory("ret", "", Flow::ret);
    factory("exit", "", Flow::exit);
    factory("trap brkpt", "stop the kernel", Flow::trap);
    factory("nanosleep", ".u32", Flow::sleep);

    factory(
        "bar barrier",
        ".sync .arrive .red.popc .red.and .red.or with ids and counts; .warp.sync",
        BarrierOp::make);
    factory("shfl", ".sync.up .down .bfly .idx", WarpOps::shuffle);
    factory("vote", ".sync.all .any .uni .ballot", WarpOps::vote);
    factory("match", ".any.sync .all.sync", WarpOps::match);
    factory("redux", ".sync.add .min .max .and .or .xor of integers", WarpOps::reduce);
    factory("elect", ".sync: the lowest lane leads", WarpOps::elect);
    factory("activemask", "the lanes that are here together", WarpOps::activeMask);

    refused("clusters are not supported", "mapa getctarank clusterlaunchcontrol");
    refused(
        "matrix instructions are not supported",
        "mma wmma wgmma ldmatrix stmatrix movmatrix tcgen05");
    refused(
        "textures and surfaces are not supported",
        "tex tld4 txq suld sust sured suq istypep tensormap");
    refused(
        "memory on the stack of a size known at run time is not supported",
        "alloca stacksave stackrestore");
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

  private static void factory(String names, String forms, Factory factory) {
    for (String name : List.of(names.split(" ", -1))) {
      FACTORIES.put(name, factory);
      FORMS.put(name, forms);
    }
  }

  private static void refused(String reason, String names) {
    for (String name : List.of(names.split(" ", -1))) {
      REFUSED.put(name, reason);
    }
  }

  /** Returns the forms of each instruction by name: in words, or those of its rows. */
  static Map<String, String> forms() {
    Map<String, String> forms = new TreeMap<>(FORMS);
    for (Rows rows : List.of(Integers.ROWS, Floats.ROWS)) {
      for (String row : rows.names()) {
        int dot = row.indexOf('.');
        forms.merge(row.substring(0, dot), row.substring(dot), (one, two) -> one + " " + two);
      }
    }
    return forms;
  }

  /** Why an instruction stops its kernel whatever its form, by name. */
  static Map<String, String> refused() {
    return new TreeMap<>(REFUSED);
  }

  /** The operation of {@code instruction}. */
  public static Op make(Instruction instruction, Assembler assembler) throws Unsupported {
    Factory factory = FACTORIES.get(instruction.name());
    try {
      if (factory != null) {
        return factory.make(instruction, assembler);
      }
      String refusal = REFUSED.get(instruction.name());
      if (refusal != null) {
        return new Stop(refusal);
      }
      if (instruction.has("cc")) {
        return Carry.make(instruction, assembler);
      }
      return arithmetic(instruction, assembler);
    } catch (IndexOutOfBoundsException | NoSuchElementException e) {
      throw new Unsupported("operands or modifiers are missing");
    }
  }

  private static Op arithmetic(Instruction i, Assembler a) throws Unsupported {
    List<String> modifiers = new ArrayList<>(i.modifiers());
    ScalarType type = typeLast(i.name(), modifiers);
    if (type == null) {
      throw new Unsupported("instruction not supported");
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
      throw new Unsupported("instruction not supported");
    }
    LongUnaryOperator before =
        !flush ? NOTHING : single ? FloatRows::flush : x -> HalfRows.flush(type, x);
    LongUnaryOperator after = before;
    if (saturate) {
      after = before.andThen(saturation(type));
    }
    return build(
        name + (flush ? ".ftz" : "") + (saturate ? ".sat" : ""),
        flush || saturate ? wrap(row, before, after) : row,
        type,
        i,
        a);
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
