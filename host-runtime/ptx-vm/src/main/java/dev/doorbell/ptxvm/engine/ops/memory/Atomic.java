package dev.doorbell.ptxvm.engine.ops.memory;

import dev.doorbell.core.fabric.Access;
import dev.doorbell.core.fabric.Rmw;
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
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** {@code atom} and {@code red}. */
public final class Atomic extends MemoryOp {
  private static final Set<String> OPERATIONS =
      Set.of("add", "exch", "cas", "and", "or", "xor", "min", "max", "inc", "dec");

  private final Rmw operation;
  private final int d;
  private final int operand;
  private final int compare;

  private Atomic(Rmw operation, int d, int operand, int compare) {
    this.operation = operation;
    this.d = d;
    this.operand = operand;
    this.compare = compare;
  }

  public static Op make(Instruction i, Assembler a) throws Unsupported {
    if (i.has("async")) {
      return Sequence.asynchronous(i, Atomic::make, a);
    }
    if (i.has("b128")) {
      return Atomic128.make(i, a);
    }
    if (i.has("v2") || i.has("v4") || i.has("v8")) {
      return AtomicVector.make(i, a);
    }
    ScalarType type = typed(i);
    String name = null;
    Instruction rest = i;
    for (String modifier : i.modifiers()) {
      if (OPERATIONS.contains(modifier)) {
        name = modifier;
        rest = without(i, modifier);
      }
    }
    if (name == null) {
      throw Unsupported.malformed("unknown operation");
    }
    Rmw operation = operation(name, type);
    List<Operand> operands = i.operands();
    boolean reduces = i.name().equals("red");
    int at = reduces ? 0 : 1;
    boolean swaps = operation == Rmw.COMPARE_AND_SWAP;
    int first = a.source(operands.get(at + 1), type);
    int second = swaps ? a.source(operands.get(at + 2), type) : first;
    Atomic atomic =
        new Atomic(
            operation, reduces ? a.kernel().trash() : a.result(operands.getFirst()), second, first);
    atomic.locate(rest, operands.get(at), a);
    atomic.bytes = type.bytes();
    atomic.access = access(rest, Access.RELAXED) | (reduces ? Access.REDUCTION : 0);
    return atomic;
  }

  /** libcu++ writes the type before the operation, nvcc behind it. */
  static ScalarType typed(Instruction i) throws Unsupported {
    for (String modifier : i.modifiers()) {
      ScalarType type = ScalarType.of(modifier);
      if (type != null && type != ScalarType.PRED) {
        return type;
      }
    }
    throw new Unsupported("type not supported");
  }

  static Instruction without(Instruction i, String modifier) {
    return i.with(
        i.modifiers().stream().filter(other -> !other.equals(modifier)).toList(), i.operands());
  }

  static Rmw operation(String name, ScalarType type) throws Unsupported {
    boolean integer =
        type.family() != ScalarType.Family.FLOAT && type.family() != ScalarType.Family.PACKED;
    Rmw operation =
        switch (name) {
          case "add" ->
              switch (type) {
                case F16 -> Rmw.ADD_F16;
                case BF16 -> Rmw.ADD_BF16;
                case F16X2 -> Rmw.ADD_F16X2;
                case BF16X2 -> Rmw.ADD_BF16X2;
                case F32 -> Rmw.ADD_F32;
                case F64 -> Rmw.ADD_F64;
                default -> Rmw.ADD;
              };
          case "exch" -> Rmw.EXCHANGE;
          case "cas" -> Rmw.COMPARE_AND_SWAP;
          case "and" -> integer ? Rmw.AND : null;
          case "or" -> integer ? Rmw.OR : null;
          case "xor" -> integer ? Rmw.XOR : null;
          case "min" -> !integer ? null : type.signed() ? Rmw.MIN_SIGNED : Rmw.MIN_UNSIGNED;
          case "max" -> !integer ? null : type.signed() ? Rmw.MAX_SIGNED : Rmw.MAX_UNSIGNED;
          case "inc" -> integer ? Rmw.INCREMENT_WRAP : null;
          default -> integer ? Rmw.DECREMENT_WRAP : null;
        };
    if (operation == null) {
      throw new Unsupported("." + name + " on ." + type.ptx() + " is not supported");
    }
    return operation;
  }

  @Override
  public @Nullable Op execute(VmThread t, long[] r) {
    long address = r[base] + offset;
    boolean ported = space == Space.SHARED && t.portedShared;
    if (ported) {
      address = window(t, "atomic", address);
    }
    if (space.isWindow() && !ported) {
      long at = window(t, "atomic", space == Space.FRAME ? address + t.frame : address);
      r[d] = seen(t, at, raw(at, r[operand], r[compare]), r);
      return next;
    }
    if (space == Space.GENERIC && t.isScratch(address)) {
      t.checkScratch("atomic", address, bytes);
      r[d] = seen(t, address, raw(address, r[operand], r[compare]), r);
      return next;
    }
    t.checkAligned("atomic", address, bytes);
    t.account();
    ThreadPort port = t.port;
    long old = port.atomic(operation, address, bytes, r[operand], r[compare], access);
    if (port.parked) {
      return t.park(this);
    }
    if (changesNothing(old, r)) {
      t.polling.watch(address, bytes, old);
    }
    r[d] = seen(t, address, old, r);
    return next;
  }

  /** Notes what came of it: one that changed nothing is a poll. */
  private long seen(VmThread t, long address, long old, long[] r) {
    if (changesNothing(old, r)) {
      t.polling.loaded(address, old);
    } else {
      t.polling.acted();
    }
    return old;
  }

  private boolean changesNothing(long old, long[] r) {
    return switch (operation) {
      case COMPARE_AND_SWAP -> old != r[compare] || r[operand] == r[compare];
      case EXCHANGE -> old == r[operand];
      case ADD, OR -> r[operand] == 0;
      default -> false;
    };
  }

  /** All threads of a block run on one host thread: nothing comes between load and store. */
  private long raw(long at, long value, long expected) {
    long old = RawMemory.get(at, bytes);
    RawMemory.put(at, bytes, operation.apply(old, bytes, value, expected));
    return old;
  }

  /** {@code atom.exch.b128} and {@code atom.cas.b128}. */
  static final class Atomic128 extends MemoryOp {
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
      throw Unsupported.malformed("a register of 128 bits is needed");
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

  /**
   * {@code atom.add} and {@code red.add} on vectors: each element is an atomic of its own, the
   * whole is not (PTX ISA, {@code atom}).
   */
  static final class AtomicVector extends MemoryOp {
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
        throw Unsupported.malformed("%d results in braces are needed".formatted(to.length));
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
      throw Unsupported.malformed("registers in braces are needed");
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
}
