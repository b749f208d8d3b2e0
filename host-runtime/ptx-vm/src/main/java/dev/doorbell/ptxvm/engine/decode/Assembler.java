package dev.doorbell.ptxvm.engine.decode;

import dev.doorbell.ptxvm.engine.machine.LinkedFunction;
import dev.doorbell.ptxvm.engine.machine.Op;
import dev.doorbell.ptxvm.engine.machine.SpecialRegister;
import dev.doorbell.ptxvm.ir.Instruction;
import dev.doorbell.ptxvm.ir.Operand;
import dev.doorbell.ptxvm.ir.Operand.Register;
import dev.doorbell.ptxvm.ir.PollingLoops;
import dev.doorbell.ptxvm.ir.PollingLoops.Counters;
import dev.doorbell.ptxvm.ir.ScalarType;
import dev.doorbell.ptxvm.ir.Variable;
import dev.doorbell.ptxvm.ir.Variable.StateSpace;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Builds operands for the opcode factories of one function. */
public final class Assembler {
  private final KernelScope kernel;
  private final LinkedFunction function;
  private final Map<Integer, PollingLoops.Loop> polling;
  private final List<Runnable> fixups = new ArrayList<>();

  /** The index of the instruction that is being decoded. */
  public int at;

  /**
   * @param polling the loops that may poll or spin, by the branch that closes them
   */
  public Assembler(
      KernelScope kernel, LinkedFunction function, Map<Integer, PollingLoops.Loop> polling) {
    this.kernel = kernel;
    this.function = function;
    this.polling = polling;
  }

  /** Runs {@code fixup} when all operations of the function exist. */
  public void later(Runnable fixup) {
    fixups.add(fixup);
  }

  /** All operations of the function exist. */
  public void link() {
    fixups.forEach(Runnable::run);
  }

  /** The operation at an index, once {@link #later} runs; null behind the end. */
  public @Nullable Op op(int index) {
    return index < function.ops.size() ? function.ops.get(index) : null;
  }

  /** The loop that may wait which the branch that is being assembled closes, or null. */
  public PollingLoops.@Nullable Loop polling() {
    return polling.get(at);
  }

  public KernelScope kernel() {
    return kernel;
  }

  public LinkedFunction function() {
    return function;
  }

  public int slot(Register register) {
    return function.slot(register);
  }

  /** The slots of what a loop writes without using it, which hold nothing else in the loop. */
  public int[] slots(Counters counters) {
    Set<Integer> others = counters.others().stream().map(this::slot).collect(Collectors.toSet());
    return counters.idle().stream()
        .mapToInt(this::slot)
        .filter(slot -> !others.contains(slot))
        .distinct()
        .toArray();
  }

  /** The slot of a source operand read as {@code type}. */
  public int source(Operand operand, ScalarType type) throws Unsupported {
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
      case Operand.Symbol symbol -> address(symbol);
      case Operand.FunctionName(String name) -> kernel.constant(kernel.functionAddress(name));
      case Operand.Special(String name) -> {
        SpecialRegister special = SpecialRegister.of(name);
        if (special == null) {
          throw new Unsupported("register " + name + " is read by mov only");
        }
        yield kernel.special(special);
      }
      default -> throw Unsupported.malformed("operand not supported here");
    };
  }

  /** The slot of a destination; {@code _} has one that is not read. */
  public int result(Operand operand) throws Unsupported {
    return switch (operand) {
      case Operand.Reg(Register register) -> slot(register);
      case Operand.Sink sink -> kernel.trash();
      default -> throw Unsupported.malformed("the destination must be a register");
    };
  }

  /** The bits that a destination keeps. */
  public long resultMask(Operand operand) {
    return operand instanceof Operand.Reg(Register register) ? register.type().mask() : -1L;
  }

  /** True when {@code symbol} lies in the frame of the running function. */
  public boolean inFrame(Variable variable) {
    return function.frame.has(variable);
  }

  /** The slot of a variable's address; in its window, for those that lie in one. */
  private int address(Operand.Symbol symbol) throws Unsupported {
    Variable variable = symbol.variable();
    if (inModule(variable)) {
      return kernel.address(variable, symbol.offset());
    }
    if (inFrame(variable)) {
      if (!kernel.isRoot(function)) {
        throw new Unsupported("the address of '" + variable.name() + "' is taken by mov only");
      }
      return kernel.constant(function.frame.offset(variable) + symbol.offset());
    }
    return kernel.constant(windowOffset(variable) + symbol.offset());
  }

  /** The slot to which an access adds {@link #offset}: of a register, an address, or zero. */
  public int base(@Nullable Operand operand) throws Unsupported {
    return switch (operand) {
      case null -> kernel.constant(0);
      case Operand.Reg reg -> source(reg, ScalarType.U64);
      case Operand.Symbol(Variable variable, long by, boolean generic) ->
          inModule(variable) ? kernel.address(variable, by) : kernel.constant(0);
      default -> throw new Unsupported("this address");
    };
  }

  /** Returns what an access adds to {@link #base}. */
  public long offset(@Nullable Operand operand) throws Unsupported {
    return operand instanceof Operand.Symbol(Variable variable, long by, boolean generic)
            && !inModule(variable)
        ? by + windowOffset(variable)
        : 0;
  }

  private boolean inModule(Variable variable) {
    return !inFrame(variable)
        && (variable.space() == StateSpace.GLOBAL || variable.space() == StateSpace.CONST);
  }

  /** Offset in the frame, in shared memory or in the parameter block. */
  public long windowOffset(Variable variable) throws Unsupported {
    if (inFrame(variable)) {
      return function.frame.offset(variable);
    }
    return switch (variable.space()) {
      case GLOBAL, CONST -> throw new Unsupported("this address of '" + variable.name() + "'");
      case SHARED -> kernel.shared().offset(variable);
      case PARAM -> kernel.parameters().offset(variable);
      case LOCAL -> throw new Unsupported("local variables outside of functions");
    };
  }

  /** True when {@code variable} is a parameter of the kernel itself. */
  public boolean isKernelParameter(Variable variable) {
    return variable.space() == StateSpace.PARAM && kernel.parameters().has(variable);
  }

  /** The type of the elements: the last modifier that is one. */
  public static ScalarType type(Instruction i) throws Unsupported {
    for (String modifier : i.modifiers().reversed()) {
      ScalarType type = ScalarType.of(modifier);
      if (type != null && type != ScalarType.PRED) {
        return type;
      }
    }
    throw new Unsupported("type not supported");
  }

  /** The predicate of a {@code p} or {@code !p} operand. */
  public Condition condition(Operand operand) throws Unsupported {
    return operand instanceof Operand.Not(Register register)
        ? new Condition(slot(register), true)
        : new Condition(source(operand, ScalarType.PRED), false);
  }

  /**
   * A predicate operand.
   *
   * @param slot the predicate register
   * @param negated true for {@code !p}
   */
  public record Condition(int slot, boolean negated) {}

  /**
   * A form of an instruction that this engine does not implement. A thread that gets there stops
   * its kernel; one that no PTX has becomes a refusal at load.
   */
  public static final class Unsupported extends Exception {
    private static final long serialVersionUID = 1L;

    private final boolean malformed;

    public Unsupported(String reason) {
      this(reason, false);
    }

    private Unsupported(String reason, boolean malformed) {
      super(reason, null, false, false);
      this.malformed = malformed;
    }

    /** An instruction whose operands no form of PTX has. */
    public static Unsupported malformed(String reason) {
      return new Unsupported(reason, true);
    }

    /** Returns true if no form of PTX is like this. */
    public boolean isMalformed() {
      return malformed;
    }
  }
}
