package dev.doorbell.ptxvm.engine.link;

import dev.doorbell.ptxvm.engine.machine.LinkedFunction;
import dev.doorbell.ptxvm.ir.Function;
import dev.doorbell.ptxvm.ir.Instruction;
import dev.doorbell.ptxvm.ir.Operand;
import dev.doorbell.ptxvm.ir.PtxModule;
import dev.doorbell.ptxvm.memory.ModuleMemory;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Who calls whom in a module; a call through a pointer may reach any function with an address. */
final class CallGraph {
  private final Map<String, Function> functions;
  private final Map<String, Set<String>> calls = new LinkedHashMap<>();

  CallGraph(PtxModule module, ModuleMemory memory) {
    this.functions = module.functions();
    Set<String> pointedTo = new LinkedHashSet<>();
    for (Function function : functions.values()) {
      if (memory.pointsTo(function.name())) {
        pointedTo.add(function.name());
      }
      for (Instruction instruction : function.code()) {
        if (!instruction.name().equals("call")) {
          pointedTo.addAll(namedIn(instruction));
        }
      }
    }
    for (Function function : functions.values()) {
      Set<String> targets = new LinkedHashSet<>();
      for (Instruction instruction : function.code()) {
        if (instruction.name().equals("call")) {
          List<String> named = namedIn(instruction);
          targets.addAll(named.isEmpty() ? pointedTo : named);
        }
      }
      calls.put(function.name(), targets);
    }
  }

  private static List<String> namedIn(Instruction instruction) {
    List<String> names = new ArrayList<>();
    for (Operand operand : instruction.operands()) {
      if (operand instanceof Operand.FunctionName(String name)) {
        names.add(name);
      }
    }
    return names;
  }

  /** {@code root} and every defined function that it may reach, {@code root} first. */
  List<Function> reachable(String root) {
    Set<String> seen = new LinkedHashSet<>();
    List<String> open = new ArrayList<>(List.of(root));
    while (!open.isEmpty()) {
      String name = open.removeLast();
      Function function = functions.get(name);
      if (function != null && function.defined() && seen.add(name)) {
        open.addAll(calls.getOrDefault(name, Set.of()));
      }
    }
    List<Function> list = new ArrayList<>();
    for (String name : seen) {
      Function function = functions.get(name);
      if (function != null) {
        list.add(function);
      }
    }
    return list;
  }

  /** True when the function may run while it already runs. */
  boolean isRecursive(String name) {
    Set<String> seen = new LinkedHashSet<>();
    List<String> open = new ArrayList<>(calls.getOrDefault(name, Set.of()));
    while (!open.isEmpty()) {
      String next = open.removeLast();
      if (next.equals(name)) {
        return true;
      }
      if (seen.add(next)) {
        open.addAll(calls.getOrDefault(next, Set.of()));
      }
    }
    return false;
  }

  /** Local memory of a thread: the deepest chain of frames, plus {@code extra} for recursion. */
  long stackBytes(String root, Map<String, LinkedFunction> functions, long extra) {
    boolean recursive = functions.keySet().stream().anyMatch(this::isRecursive);
    if (!recursive) {
      return depth(root, functions, new LinkedHashMap<>());
    }
    long all = functions.values().stream().mapToLong(callee -> callee.frameBytes).sum();
    return all + extra;
  }

  private long depth(String name, Map<String, LinkedFunction> functions, Map<String, Long> known) {
    LinkedFunction callee = functions.get(name);
    if (callee == null) {
      return 0;
    }
    Long before = known.get(name);
    if (before != null) {
      return before;
    }
    long deepest = 0;
    for (String target : calls.getOrDefault(name, Set.of())) {
      deepest = Math.max(deepest, depth(target, functions, known));
    }
    known.put(name, callee.frameBytes + deepest);
    return callee.frameBytes + deepest;
  }
}
