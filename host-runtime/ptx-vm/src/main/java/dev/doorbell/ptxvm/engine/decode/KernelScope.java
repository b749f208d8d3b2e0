package dev.doorbell.ptxvm.engine.decode;

import dev.doorbell.core.gpu.GpuException;
import dev.doorbell.ptxvm.engine.machine.LinkedFunction;
import dev.doorbell.ptxvm.engine.machine.SpecialRegister;
import dev.doorbell.ptxvm.ir.PtxModule;
import dev.doorbell.ptxvm.ir.Variable;
import dev.doorbell.ptxvm.memory.Layout;
import dev.doorbell.ptxvm.memory.ModuleMemory;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * State that the functions of a kernel share: layouts of its memory, and one register file, in
 * which constants and special registers have slots behind those of all functions.
 */
public final class KernelScope {
  private final PtxModule module;
  private final Map<String, LinkedFunction> functions = new LinkedHashMap<>();
  private final Layout parameters = new Layout();
  private final Layout shared = new Layout();
  private final Map<Long, Integer> constants = new HashMap<>();
  private final Map<Place, VariableSlot> variables = new LinkedHashMap<>();
  private final List<Long> pool = new ArrayList<>();
  private final Map<SpecialRegister, Integer> specials = new TreeMap<>();
  private int poolStart;
  private int trash = -1;
  private @Nullable LateCalls late;

  public KernelScope(PtxModule module) {
    this.module = module;
  }

  /** Links what threads call through pointers when the first one does. */
  public interface LateCalls {
    /**
     * Links the function of an address with all that it may call; null if there is none.
     *
     * @throws GpuException if it cannot be run
     */
    @Nullable LinkedFunction function(long address);

    /** Returns how many slots the functions have that were linked until now. */
    int slots();
  }

  /** A slot that holds an address in a variable of the module, which each load of it decides. */
  public record VariableSlot(int slot, Variable variable, long offset) {}

  private record Place(Variable variable, long offset) {}

  /** Adds a function; all of them before the first constant. */
  public void add(LinkedFunction function) {
    functions.put(function.function.name(), function);
    poolStart = Math.max(poolStart, function.lastSlot);
  }

  /** Adds a function when there are constants already. */
  public void addLate(LinkedFunction function) {
    functions.put(function.function.name(), function);
  }

  /** Reserves slots behind all others; returns the first. */
  public int reserve(int count) {
    int first = slots();
    for (int i = 0; i < count; i++) {
      grow(0);
    }
    return first;
  }

  public int slots() {
    return poolStart + pool.size();
  }

  /** Sets how functions are found that are called through pointers. */
  public void linkLate(LateCalls calls) {
    late = calls;
  }

  /** Returns how functions are found that are called through pointers; null: all are known. */
  public @Nullable LateCalls late() {
    return late;
  }

  /** The kernel and what it may call, by name, the kernel first. */
  public Map<String, LinkedFunction> functions() {
    return functions;
  }

  public @Nullable LinkedFunction function(String name) {
    return functions.get(name);
  }

  boolean isRoot(LinkedFunction function) {
    return functions.values().iterator().next().equals(function);
  }

  /** The functions that may be called through a pointer, by their address. */
  public Map<Long, LinkedFunction> pointedTo() {
    Map<Long, LinkedFunction> byAddress = new HashMap<>();
    if (late != null) {
      return byAddress;
    }
    functions.forEach((name, function) -> byAddress.put(functionAddress(name), function));
    return byAddress;
  }

  /** The number that stands for a function in a pointer. */
  long functionAddress(String name) {
    return ModuleMemory.functionAddress(module, name);
  }

  public Layout parameters() {
    return parameters;
  }

  /** Static shared memory. */
  public Layout shared() {
    return shared;
  }

  /** The first slot of a constant or special register. */
  public int poolStart() {
    return poolStart;
  }

  /** The register file of a thread that has not begun. */
  public long[] registers() {
    long[] registers = new long[poolStart + pool.size()];
    for (int i = 0; i < pool.size(); i++) {
      registers[poolStart + i] = pool.get(i);
    }
    return registers;
  }

  /** Returns the number of slots, the first ones, that operations write. */
  public int written() {
    return Math.max(poolStart, trash + 1);
  }

  public Map<SpecialRegister, Integer> specials() {
    return specials;
  }

  /** The slot that holds {@code value} all the time. */
  public int constant(long value) {
    return constants.computeIfAbsent(value, this::grow);
  }

  /** The slot that holds the address of {@code variable}, which is in module memory, plus bytes. */
  public int address(Variable variable, long offset) {
    return variables
        .computeIfAbsent(
            new Place(variable, offset), place -> new VariableSlot(grow(0), variable, offset))
        .slot();
  }

  /** The slots of addresses, which {@link #registers} leaves at 0. */
  public List<VariableSlot> variables() {
    return List.copyOf(variables.values());
  }

  /** The slot that holds the thread's value of a special register. */
  public int special(SpecialRegister register) {
    return specials.computeIfAbsent(register, key -> grow(0));
  }

  /** A slot that is not read. */
  public int trash() {
    if (trash < 0) {
      trash = grow(0);
    }
    return trash;
  }

  private int grow(long value) {
    pool.add(value);
    return poolStart + pool.size() - 1;
  }
}
