package dev.doorbell.ptxvm.memory;

import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.core.memory.Allocation;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.memory.RawMemory;
import dev.doorbell.ptxvm.ir.Operand;
import dev.doorbell.ptxvm.ir.PtxModule;
import dev.doorbell.ptxvm.ir.ScalarType;
import dev.doorbell.ptxvm.ir.Variable;
import dev.doorbell.ptxvm.ir.Variable.StateSpace;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The {@code .global} and {@code .const} variables of a loaded module, and function addresses. */
public final class ModuleMemory implements AutoCloseable {
  /**
   * Start of function addresses: outside of what any process can map, so that a load through one is
   * a fault.
   */
  public static final long FUNCTIONS = 0x00f0_0000_0000_0000L;

  public static final int FUNCTION_STEP = 16;

  private final AddressSpace space;
  private final Map<String, Variable> byName = new LinkedHashMap<>();
  private final Map<Variable, Allocation> allocations = new LinkedHashMap<>();
  private final PtxModule module;
  private boolean closed;

  public ModuleMemory(AddressSpace space, Locus locus, PtxModule module) {
    this.space = space;
    this.module = module;
    try {
      for (Variable variable : module.variables()) {
        if (holds(variable)) {
          byName.put(variable.name(), variable);
          allocations.put(
              variable,
              space.allocate(
                  MemoryKind.DEVICE, locus, Math.max(1, variable.bytes()), variable.name()));
        }
      }
    } catch (RuntimeException e) {
      close();
      throw e;
    }
    for (Variable variable : allocations.keySet()) {
      initialise(variable);
    }
  }

  private static boolean holds(Variable variable) {
    return variable.space() == StateSpace.GLOBAL || variable.space() == StateSpace.CONST;
  }

  private void initialise(Variable variable) {
    for (Variable.Initial part : variable.initial()) {
      long value = value(part.value(), variable.type());
      long at = address(variable) + part.offset();
      for (int i = 0; i < part.bytes(); i++) {
        RawMemory.putByte(at + i, (byte) (value >>> (i * Byte.SIZE)));
      }
    }
  }

  private long value(Operand operand, ScalarType type) {
    return switch (operand) {
      case Operand.Int(long value) -> value;
      case Operand.Single(int bits) ->
          type == ScalarType.F64
              ? Double.doubleToRawLongBits(Float.intBitsToFloat(bits))
              : bits & 0xffffffffL;
      case Operand.Real(double value) ->
          type == ScalarType.F64
              ? Double.doubleToRawLongBits(value)
              : Float.floatToRawIntBits((float) value) & 0xffffffffL;
      case Operand.Name(String name) -> named(name);
      case Operand.Address(Operand.Name(String name), long offset) -> named(name) + offset;
      default -> 0;
    };
  }

  private long named(String name) {
    Variable variable = byName.get(name);
    return variable != null ? address(variable) : functionAddress(module, name);
  }

  /** The address that kernels use for a variable of this module. */
  public long address(Variable variable) {
    Allocation allocation = allocations.get(variable);
    if (allocation == null) {
      throw new IllegalArgumentException("'" + variable.name() + "' is not in module memory");
    }
    return allocation.address();
  }

  /** The number that stands for a function in a pointer, wherever its module is loaded. */
  public static long functionAddress(PtxModule module, String name) {
    List<String> functions = List.copyOf(module.functions().keySet());
    return FUNCTIONS + (long) functions.indexOf(name) * FUNCTION_STEP;
  }

  /** True when some initialiser of a module's memory holds a function's address. */
  public static boolean pointsTo(PtxModule module, String function) {
    return module.variables().stream()
        .filter(ModuleMemory::holds)
        .flatMap(variable -> variable.initial().stream())
        .anyMatch(part -> part.value().equals(new Operand.Name(function)));
  }

  /** The variable called {@code name}, for the host; null when there is none. */
  public @Nullable Memory variable(String name) {
    Variable variable = byName.get(name);
    if (variable == null) {
      return null;
    }
    Consumer<VmMemory> keep = memory -> {};
    Allocation allocation = allocations.get(variable);
    return allocation == null
        ? null
        : new VmMemory(space, allocation, allocation.address(), variable.bytes(), keep);
  }

  public List<String> variables() {
    return List.copyOf(byName.keySet());
  }

  @Override
  public void close() {
    if (!closed) {
      closed = true;
      allocations.values().forEach(space::free);
    }
  }
}
