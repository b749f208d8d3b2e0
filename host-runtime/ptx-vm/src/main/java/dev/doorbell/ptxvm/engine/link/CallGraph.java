package dev.doorbell.ptxvm.engine.link;

import dev.doorbell.ptxvm.engine.machine.LinkedFunction;
import dev.doorbell.ptxvm.ir.Function;
import dev.doorbell.ptxvm.ir.Instruction;
import dev.doorbell.ptxvm.ir.Operand;
import dev.doorbell.ptxvm.ir.PtxModule;
import dev.doorbell.ptxvm.memory.ModuleMemory;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.SequencedSet;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.ToIntFunction;

/**
 * The calls between the functions of a module; a call through a pointer may reach any function with
 * an address. Where functions are linked late, such a call is no edge: what it reaches is linked
 * when a thread gets there. Safe for several threads.
 */
final class CallGraph {
  private final Map<String, Function> functions;
  private final boolean late;
  private final Set<String> pointedTo;
  private final Map<String, Set<String>> calls = new ConcurrentHashMap<>();
  private final Map<String, Boolean> recursive = new ConcurrentHashMap<>();

  CallGraph(PtxModule module) {
    this.functions = module.functions();
    this.late = module.isLate();
    this.pointedTo = late ? Set.of() : pointedTo(module);
  }

  private static Set<String> pointedTo(PtxModule module) {
    Set<String> pointedTo = new LinkedHashSet<>();
    for (Function function : module.functions().values()) {
      if (ModuleMemory.pointsTo(module, function.name())) {
        pointedTo.add(function.name());
      }
      for (Instruction instruction : function.code()) {
        if (!instruction.name().equals("call")) {
          pointedTo.addAll(namedIn(instruction));
        }
      }
    }
    return pointedTo;
  }

  private Set<String> calls(String name) {
    return calls.computeIfAbsent(
        name,
        _ -> {
          Function function = functions.get(name);
          Set<String> targets = new LinkedHashSet<>();
          for (Instruction call : function == null ? List.<Instruction>of() : function.code()) {
            if (call.name().equals("call")) {
              List<String> named = namedIn(call);
              targets.addAll(named.isEmpty() ? pointedTo : named);
            }
          }
          return targets;
        });
  }

  /** Returns true if a function calls what is not known before a thread gets there. */
  private static boolean callsPointer(Function function) {
    return function.code().stream()
        .anyMatch(each -> each.name().equals("call") && namedIn(each).isEmpty());
  }

  /** Returns true if a function, or what it calls, calls functions that are linked late. */
  boolean callsLate(String name) {
    return late && reach(List.of(name)).values().stream().anyMatch(CallGraph::callsPointer);
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
    return List.copyOf(reach(List.of(root)).values());
  }

  /** Returns true if the function may be called, directly or not, while it runs. */
  boolean isRecursive(String name) {
    Boolean known = recursive.get(name);
    if (known == null) {
      known = reach(calls(name)).containsKey(name) || callsLate(name);
      recursive.put(name, known);
    }
    return known;
  }

  /**
   * Returns where the registers of each function begin in one file for all of them: behind those of
   * every function that may be running when it is called. Functions of which none is running while
   * the other is share slots; where one may call itself, directly or not, none do.
   *
   * @param functions what {@link #reachable} gave
   * @param count the slots that a function needs
   */
  Map<String, Integer> firstSlots(List<Function> functions, ToIntFunction<Function> count) {
    Map<String, Integer> first = new HashMap<>();
    if (functions.stream().anyMatch(function -> isRecursive(function.name()))) {
      int next = 0;
      for (Function function : functions) {
        first.put(function.name(), next);
        next += count.applyAsInt(function);
      }
      return first;
    }
    Map<String, Integer> counts = new HashMap<>();
    SequencedSet<String> calleesFirst = new LinkedHashSet<>();
    for (Function function : functions) {
      counts.put(function.name(), count.applyAsInt(function));
      addBehindCallees(function.name(), calleesFirst);
    }
    for (String name : calleesFirst.reversed()) {
      int behind = first.merge(name, 0, Math::max) + counts.getOrDefault(name, 0);
      calls(name).forEach(callee -> first.merge(callee, behind, Math::max));
    }
    return first;
  }

  private void addBehindCallees(String name, Set<String> to) {
    if (!to.contains(name)) {
      calls(name).forEach(callee -> addBehindCallees(callee, to));
      to.add(name);
    }
  }

  /** The defined functions among {@code roots} and all that they may call, in depth-first order. */
  private SequencedMap<String, Function> reach(Collection<String> roots) {
    SequencedMap<String, Function> seen = new LinkedHashMap<>();
    List<String> open = new ArrayList<>(roots);
    while (!open.isEmpty()) {
      String name = open.removeLast();
      Function function = functions.get(name);
      if (function != null && function.defined() && seen.putIfAbsent(name, function) == null) {
        open.addAll(calls(name));
      }
    }
    return seen;
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
    for (String target : calls(name)) {
      deepest = Math.max(deepest, depth(target, functions, known));
    }
    known.put(name, callee.frameBytes + deepest);
    return callee.frameBytes + deepest;
  }
}
