package dev.doorbell.ptxvm.engine;

import dev.doorbell.ptxvm.ir.ControlFlow;
import dev.doorbell.ptxvm.ir.Function;
import dev.doorbell.ptxvm.ir.Instruction;
import dev.doorbell.ptxvm.ir.Operand;
import dev.doorbell.ptxvm.ir.PollingLoops;
import dev.doorbell.ptxvm.ir.PtxModule;
import dev.doorbell.ptxvm.ir.Refusal;
import dev.doorbell.ptxvm.ir.Register;
import dev.doorbell.ptxvm.ir.Slots;
import dev.doorbell.ptxvm.ir.StateSpace;
import dev.doorbell.ptxvm.ir.Variable;
import dev.doorbell.ptxvm.memory.Layout;
import dev.doorbell.ptxvm.memory.ModuleMemory;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/**
 * Builds what a kernel runs: its own operations and those of every function it may call, one
 * register file for all of them, constants and launch constants in slots of their own.
 */
public final class KernelBuilder {
  private final PtxModule module;
  private final ModuleMemory memory;
  private final CallGraph graph;
  private final Function root;
  private final Layout parameters = new Layout();
  private final Layout shared = new Layout();
  private final Map<String, Callee> callees = new LinkedHashMap<>();
  private final Map<Long, Integer> constants = new HashMap<>();
  private final List<Long> pool = new ArrayList<>();
  private final Map<SpecialRegister, Integer> specials = new TreeMap<>();
  private final List<Instruction> places = new ArrayList<>();
  private final List<ToIntFunction<Register>> slotsAt = new ArrayList<>();
  private final Map<Integer, Refusal> refusals;
  private final boolean ahead;
  private int poolStart;
  private int trash = -1;

  private KernelBuilder(
      PtxModule module,
      ModuleMemory memory,
      CallGraph graph,
      Function root,
      boolean ahead,
      Map<Integer, Refusal> refusals) {
    this.module = module;
    this.memory = memory;
    this.graph = graph;
    this.root = root;
    this.ahead = ahead;
    this.refusals = refusals;
  }

  /**
   * Builds every kernel of a module, and checks the functions that none of them calls.
   *
   * @param stackBytes local memory for the frames of recursive functions
   * @param ahead whether loads may be under way while their thread goes on
   * @param refusals gets what cannot be run, by line
   */
  public static Map<String, KernelCode> build(
      PtxModule module,
      ModuleMemory memory,
      long stackBytes,
      boolean ahead,
      Map<Integer, Refusal> refusals) {
    CallGraph graph = new CallGraph(module, memory);
    Map<String, KernelCode> kernels = new LinkedHashMap<>();
    Map<String, Boolean> reached = new HashMap<>();
    for (boolean entries : new boolean[] {true, false}) {
      for (Function function : module.functions().values()) {
        if (function.defined()
            && function.entry() == entries
            && !reached.containsKey(function.name())) {
          KernelBuilder builder =
              new KernelBuilder(module, memory, graph, function, ahead, refusals);
          KernelCode code = builder.build(stackBytes);
          builder.callees.keySet().forEach(name -> reached.put(name, true));
          if (entries) {
            kernels.put(function.name(), code);
          }
        }
      }
    }
    return kernels;
  }

  private KernelCode build(long stackBytes) {
    if (root.entry()) {
      parameters.add(root.parameters());
    }
    List<Function> functions = graph.reachable(root.name());
    layOutShared(functions);
    Map<String, ControlFlow> flows = new HashMap<>();
    Map<String, Slots> slots = new HashMap<>();
    int slot = 0;
    for (Function function : functions) {
      ControlFlow flow = new ControlFlow(function);
      Slots own = Slots.of(function, flow);
      flows.put(function.name(), flow);
      slots.put(function.name(), own);
      callees.put(
          function.name(),
          new Callee(function, slot, slot + own.count(), graph.isRecursive(function.name())));
      slot += own.count();
    }
    poolStart = slot;
    PollingLoops loops = new PollingLoops(module.functions());
    for (Callee callee : callees.values()) {
      String name = callee.function.name();
      ControlFlow flow = flows.get(name);
      Slots own = slots.get(name);
      if (flow != null && own != null) {
        new Assembler(this, callee, flow, own, loops.of(callee.function, flow)).run();
      }
    }
    Callee entry = callees.get(root.name());
    long[] registers = new long[poolStart + pool.size()];
    for (int i = 0; i < pool.size(); i++) {
      registers[poolStart + i] = pool.get(i);
    }
    return new KernelCode(
        module,
        root.name(),
        parameters,
        root.parameters(),
        entry == null ? null : entry.first,
        registers,
        List.copyOf(specials.keySet()),
        specials.values().stream().mapToInt(Integer::intValue).toArray(),
        places,
        slotsAt,
        shared.bytes(),
        graph.stackBytes(root.name(), callees, stackBytes),
        new Program(List.copyOf(callees.values()), poolStart, registers, specialSlots()));
  }

  private BitSet specialSlots() {
    BitSet slots = new BitSet();
    specials.values().forEach(slots::set);
    return slots;
  }

  private void layOutShared(List<Function> functions) {
    List<Variable> dynamic = new ArrayList<>();
    if (readsReserved(functions)) {
      shared.skip(Windows.RESERVED_BYTES);
    }
    for (Variable variable : module.variables()) {
      if (variable.space() == StateSpace.SHARED) {
        if (variable.external() || variable.bytes() == 0) {
          dynamic.add(variable);
        } else if (uses(functions, variable)) {
          shared.add(variable);
        }
      }
    }
    for (Function function : functions) {
      for (Variable variable : function.shared()) {
        if (variable.bytes() == 0) {
          dynamic.add(variable);
        } else {
          shared.add(variable);
        }
      }
    }
    int alignment = 16;
    for (Variable variable : dynamic) {
      alignment = Math.max(alignment, variable.align());
    }
    shared.align(alignment);
    for (Variable variable : dynamic) {
      shared.put(variable, shared.bytes());
    }
  }

  private static boolean readsReserved(List<Function> functions) {
    return functions.stream()
        .flatMap(function -> function.code().stream())
        .flatMap(instruction -> instruction.operands().stream())
        .anyMatch(
            operand ->
                operand instanceof Operand.Special(String name)
                    && SpecialRegister.isReserved(name));
  }

  private static boolean uses(List<Function> functions, Variable variable) {
    return functions.stream()
        .flatMap(function -> function.code().stream())
        .flatMap(instruction -> instruction.operands().stream())
        .anyMatch(operand -> names(operand, variable));
  }

  private static boolean names(Operand operand, Variable variable) {
    return switch (operand) {
      case Operand.Symbol symbol -> symbol.variable().equals(variable);
      case Operand.Address(Operand.Symbol symbol, long offset) ->
          symbol.variable().equals(variable);
      default -> false;
    };
  }

  /** Whether loads may be under way while their thread goes on. */
  boolean goesAhead() {
    return ahead;
  }

  boolean isEntry(Callee callee) {
    return callee.function.name().equals(root.name());
  }

  ModuleMemory memory() {
    return memory;
  }

  Layout parameters() {
    return parameters;
  }

  Layout shared() {
    return shared;
  }

  @Nullable Callee callee(String name) {
    return callees.get(name);
  }

  PtxModule module() {
    return module;
  }

  /** The slot that holds {@code value} all the time. */
  int constant(long value) {
    Integer known = constants.get(value);
    if (known != null) {
      return known;
    }
    int slot = grow(value);
    constants.put(value, slot);
    return slot;
  }

  /** The slot that holds what a special register is for the thread. */
  int special(SpecialRegister register) {
    return specials.computeIfAbsent(register, key -> grow(0));
  }

  /** A slot that nobody reads. */
  int trash() {
    if (trash < 0) {
      trash = grow(0);
    }
    return trash;
  }

  private int grow(long value) {
    pool.add(value);
    return poolStart + pool.size() - 1;
  }

  int place(Instruction instruction, ToIntFunction<Register> slotOf) {
    places.add(instruction);
    slotsAt.add(slotOf);
    return places.size() - 1;
  }

  void refuse(Instruction instruction, String reason) {
    refusals.putIfAbsent(
        instruction.line(),
        new Refusal(
            instruction.line(), module.text(instruction.line()), reason, instruction.source()));
  }

  /** The functions that may be called through a pointer, by their address. */
  Map<Long, Callee> pointedTo() {
    Map<Long, Callee> byAddress = new HashMap<>();
    for (Callee callee : callees.values()) {
      byAddress.put(memory.functionAddress(callee.function.name()), callee);
    }
    return byAddress;
  }
}
