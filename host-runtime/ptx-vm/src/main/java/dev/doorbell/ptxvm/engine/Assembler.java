package dev.doorbell.ptxvm.engine;

import dev.doorbell.ptxvm.ir.ControlFlow;
import dev.doorbell.ptxvm.ir.Function;
import dev.doorbell.ptxvm.ir.Instruction;
import dev.doorbell.ptxvm.ir.Operand;
import dev.doorbell.ptxvm.ir.PollingLoops;
import dev.doorbell.ptxvm.ir.Register;
import dev.doorbell.ptxvm.ir.ScalarType;
import dev.doorbell.ptxvm.ir.Slots;
import dev.doorbell.ptxvm.ir.StateSpace;
import dev.doorbell.ptxvm.ir.Variable;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/** Turns the instructions of one function into operations: what opcode factories build with. */
final class Assembler {
  private final KernelBuilder kernel;
  private final Callee callee;
  private final ControlFlow flow;
  private final Slots slots;
  private final Map<Integer, PollingLoops.Loop> polling;
  private final ToIntFunction<Register> slotOf = this::slot;
  private final List<Runnable> fixups = new ArrayList<>();
  private int at;

  Assembler(
      KernelBuilder kernel,
      Callee callee,
      ControlFlow flow,
      Slots slots,
      Map<Integer, PollingLoops.Loop> polling) {
    this.kernel = kernel;
    this.callee = callee;
    this.flow = flow;
    this.slots = slots;
    this.polling = polling;
  }

  /** Assembles and links the whole function. */
  void run() {
    Function function = callee.function;
    List<@Nullable Op> ops = new ArrayList<>();
    for (at = 0; at < function.code().size(); at++) {
      ops.add(assemble(function.code().get(at)));
    }
    if (kernel.goesAhead()) {
      Scoreboard.apply(function.code(), flow, ops, slotOf);
    }
    Op after = null;
    for (int i = ops.size() - 1; i >= 0; i--) {
      Op op = ops.get(i);
      if (op != null) {
        op.follow(after);
      }
      after = op;
    }
    this.linked = ops;
    callee.ops = ops;
    callee.slots = slots;
    callee.first = ops.isEmpty() ? null : ops.getFirst();
    fixups.forEach(Runnable::run);
  }

  private List<@Nullable Op> linked = List.of();

  private @Nullable Op assemble(Instruction instruction) {
    try {
      int place = kernel.place(instruction, slotOf);
      Op op = OpTable.make(instruction, this);
      op.place = place;
      if (instruction.guard() == null || op instanceof Branch) {
        return op;
      }
      Guarded guarded =
          Guarded.of(op, slot(instruction.guard().predicate()), instruction.guard().negated());
      guarded.place = place;
      return guarded;
    } catch (Unsupported e) {
      kernel.refuse(instruction, String.valueOf(e.getMessage()));
      return null;
    }
  }

  /** Runs {@code fixup} when all operations of the function exist. */
  void later(Runnable fixup) {
    fixups.add(fixup);
  }

  /** The operation at an index, once {@link #later} runs. */
  @Nullable Op op(int index) {
    return index < linked.size() ? linked.get(index) : null;
  }

  /** What the branch that is being assembled closes, or null. */
  PollingLoops.@Nullable Loop polling() {
    return polling.get(at);
  }

  KernelBuilder kernel() {
    return kernel;
  }

  Callee callee() {
    return callee;
  }

  int slot(Register register) {
    return callee.firstSlot + slots.of(register);
  }

  /** The slot of a source operand read as {@code type}. */
  int source(Operand operand, ScalarType type) throws Unsupported {
    return switch (operand) {
      case Operand.Reg(Register register) -> slot(register);
      case Operand.Int(long value) -> kernel.constant(value & type.mask());
      case Operand.Single(int bits) ->
          kernel.constant(
              type == ScalarType.F64 || type.bits() == 64
                  ? Double.doubleToRawLongBits(Float.intBitsToFloat(bits))
                  : bits & 0xffffffffL);
      case Operand.Real(double value) ->
          kernel.constant(
              type.bits() == 64
                  ? Double.doubleToRawLongBits(value)
                  : Float.floatToRawIntBits((float) value) & 0xffffffffL);
      case Operand.Symbol symbol -> kernel.constant(address(symbol));
      case Operand.FunctionName(String name) ->
          kernel.constant(kernel.memory().functionAddress(name));
      case Operand.Special(String name) -> {
        SpecialRegister special = SpecialRegister.of(name);
        if (special == null) {
          throw new Unsupported("register " + name + " is read by mov only");
        }
        yield kernel.special(special);
      }
      default -> throw new Unsupported("operand not supported here");
    };
  }

  /** The slot of a destination; {@code _} has one that nobody reads. */
  int result(Operand operand) throws Unsupported {
    return switch (operand) {
      case Operand.Reg(Register register) -> slot(register);
      case Operand.Sink sink -> kernel.trash();
      default -> throw new Unsupported("the destination must be a register");
    };
  }

  /** The bits that a destination keeps. */
  long resultMask(Operand operand) {
    return operand instanceof Operand.Reg(Register register) ? register.type().mask() : -1L;
  }

  /** True when {@code symbol} lies in the frame of the running function. */
  boolean inFrame(Variable variable) {
    return callee.frame.has(variable);
  }

  /** The address of a variable; in its window, for those that lie in one. */
  private long address(Operand.Symbol symbol) throws Unsupported {
    Variable variable = symbol.variable();
    if (inFrame(variable)) {
      if (!kernel.isEntry(callee)) {
        throw new Unsupported("the address of '" + variable.name() + "' is taken by mov only");
      }
      return callee.frame.offset(variable) + symbol.offset();
    }
    return windowOffset(variable) + symbol.offset();
  }

  /** Offset in the frame, in shared memory or the parameter block, or the global address. */
  long windowOffset(Variable variable) throws Unsupported {
    if (inFrame(variable)) {
      return callee.frame.offset(variable);
    }
    return switch (variable.space()) {
      case GLOBAL, CONST -> kernel.memory().address(variable);
      case SHARED -> kernel.shared().offset(variable);
      case PARAM -> kernel.parameters().offset(variable);
      case LOCAL -> throw new Unsupported("local variables outside of functions");
    };
  }

  /** True when {@code variable} is a parameter of the kernel itself. */
  boolean isKernelParameter(Variable variable) {
    return variable.space() == StateSpace.PARAM && kernel.parameters().has(variable);
  }
}
