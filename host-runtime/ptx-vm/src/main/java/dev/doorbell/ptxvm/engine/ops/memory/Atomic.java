package dev.doorbell.ptxvm.engine.ops.memory;

import dev.doorbell.core.fabric.Access;
import dev.doorbell.core.fabric.Rmw;
import dev.doorbell.core.fabric.ThreadPort;
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

/** {@code atom} and {@code red}. */
public final class Atomic extends MemoryOp {
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
      if (isOperation(modifier)) {
        name = modifier;
        rest = without(i, modifier);
      }
    }
    if (name == null) {
      throw new Unsupported("unknown operation");
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
    return new Instruction(
        i.name(),
        i.modifiers().stream().filter(other -> !other.equals(modifier)).toList(),
        i.guard(),
        i.operands(),
        i.line(),
        i.source());
  }

  private static boolean isOperation(String modifier) {
    return switch (modifier) {
      case "add", "exch", "cas", "and", "or", "xor", "min", "max", "inc", "dec" -> true;
      default -> false;
    };
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
    long old = rawLoad(at, bytes);
    rawStore(at, bytes, operation.apply(old, bytes, value, expected));
    return old;
  }
}
