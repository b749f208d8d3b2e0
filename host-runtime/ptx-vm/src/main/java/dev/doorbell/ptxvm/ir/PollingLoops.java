package dev.doorbell.ptxvm.ir;

import dev.doorbell.ptxvm.ir.Operand.Register;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Finds branches that close loops which may wait for something.
 *
 * <p>A loop may poll when it loads with a strong access, or tries an atomic that may fail, directly
 * or in a function that it calls. Whether a round of such a loop found nothing is seen when it
 * runs; a thread should then give way. A loop may spin when registers are all that it changes and
 * it does not poll: a round that leaves them as they were goes on for ever, or until a weak load
 * gives another value, which PTX does not promise.
 */
public final class PollingLoops {
  /**
   * A loop that may poll or spin.
   *
   * @param polls it may poll; else it may spin
   * @param loads it loads by weak accesses what other threads may store
   * @param pure nothing in it, calls included, can be seen by another thread: every round is a poll
   * @param watchesClock it reads a clock, so that it may end though no cell changes
   * @param counters what it counts
   */
  public record Loop(
      boolean polls, boolean loads, boolean pure, boolean watchesClock, Counters counters) {}

  /** Counters of longer loops are not looked for. */
  private static final int MOST_INSTRUCTIONS = 500;

  private static final Set<String> STRONG = Set.of("relaxed", "acquire", "volatile", "mmio");

  /** Spaces that no other thread stores to. */
  private static final Set<String> OWN = Set.of("local", "param", "const");

  private final Map<String, Function> functions;
  private final Map<String, Effects> summaries = new HashMap<>();
  private final Set<String> open = new HashSet<>();

  public PollingLoops(Map<String, Function> functions) {
    this.functions = functions;
  }

  /**
   * Effects of code.
   *
   * @param loads weakly, memory that other threads may store to
   * @param changes memory of the thread's own, or anything in a function
   */
  private record Effects(
      boolean polls, boolean loads, boolean changes, boolean clock, boolean visible) {
    static final Effects NONE = new Effects(false, false, false, false, false);
    static final Effects LOADS = new Effects(false, true, false, false, false);
    static final Effects POLLS = new Effects(true, false, false, false, false);
    static final Effects CHANGES = new Effects(false, false, true, false, false);
    static final Effects CLOCK = new Effects(false, false, false, true, false);
    static final Effects VISIBLE = new Effects(false, false, true, false, true);

    /** Effects of unknown code: anything. */
    static final Effects ANY = new Effects(true, true, true, true, true);

    Effects with(Effects other) {
      return new Effects(
          polls || other.polls,
          loads || other.loads,
          changes || other.changes,
          clock || other.clock,
          visible || other.visible);
    }
  }

  /**
   * The loops of {@code function} that may poll or spin, by the index of the branch that closes
   * them.
   */
  public Map<Integer, Loop> of(Function function, ControlFlow flow) {
    Map<Integer, Loop> found = new HashMap<>();
    Effects[] effects = function.code().stream().map(this::effects).toArray(Effects[]::new);
    for (int i = 0; i < function.code().size(); i++) {
      for (int target : Function.targets(function.code().get(i))) {
        Loop loop = target <= i ? loop(function, flow, effects, flow.loop(target, i), i) : null;
        if (loop != null) {
          found.put(i, loop);
        }
      }
    }
    return found;
  }

  private static @Nullable Loop loop(
      Function function, ControlFlow flow, Effects[] effects, BitSet body, int closing) {
    Effects all = Effects.NONE;
    for (int i = body.nextSetBit(0); i >= 0; i = body.nextSetBit(i + 1)) {
      all = effects[i].equals(Effects.NONE) ? all : all.with(effects[i]);
    }
    if (!all.polls && (all.changes || all.clock)) {
      return null;
    }
    Counters counters =
        body.cardinality() > MOST_INSTRUCTIONS ? Counters.NONE : Counters.of(function, body);
    if (all.polls || !endsAt(closing, function, flow, body)) {
      counters = counters.withoutIdle();
    }
    return new Loop(all.polls, all.loads, !all.visible, all.clock, counters);
  }

  /** Returns true if nothing but the closing branch leaves a loop. */
  private static boolean endsAt(int closing, Function function, ControlFlow flow, BitSet body) {
    return body.stream()
        .filter(i -> i != closing)
        .allMatch(
            i ->
                !Opcode.of(function.code().get(i).name()).leaves()
                    && Arrays.stream(flow.successors(i)).allMatch(body::get));
  }

  private Effects effects(Instruction instruction) {
    if (instruction.operands().isEmpty()) {
      return Effects.NONE; // ret and exit; anything else is refused later
    }
    List<String> modifiers = instruction.modifiers();
    return switch (instruction.name()) {
      case "ld", "ldu" ->
          isAny(modifiers, STRONG)
              ? Effects.POLLS
              : isAny(modifiers, OWN) ? Effects.NONE : Effects.LOADS;
      case "multimem" ->
          !instruction.has("ld_reduce")
              ? Effects.VISIBLE
              : isAny(modifiers, STRONG) ? Effects.POLLS : Effects.LOADS;
      case "st" -> isAny(modifiers, OWN) ? Effects.CHANGES : Effects.VISIBLE;
      case "atom" -> triesOnly(instruction) ? Effects.POLLS : Effects.VISIBLE;
      case "mov" ->
          instruction.operands().getLast() instanceof Operand.Special(String name)
                  && (name.startsWith("%globaltimer") || name.startsWith("%clock"))
              ? Effects.CLOCK
              : Effects.NONE;
      case "mbarrier" ->
          instruction.has("test_wait") || instruction.has("try_wait")
              ? Effects.POLLS
              : Effects.VISIBLE;
      case "call" -> call(instruction).with(Effects.CHANGES);
      default -> Opcode.of(instruction.name()).visible() ? Effects.VISIBLE : Effects.NONE;
    };
  }

  private static boolean isAny(List<String> modifiers, Set<String> of) {
    return !Collections.disjoint(modifiers, of);
  }

  /** Compare-and-swap, a lock taken by exchange, and an addition of 0 that stands for a load. */
  private static boolean triesOnly(Instruction atom) {
    return atom.has("cas")
        || atom.has("exch")
        || ((atom.has("add") || atom.has("or"))
            && atom.operands().getLast().equals(new Operand.Int(0)));
  }

  private Effects call(Instruction call) {
    for (Operand operand : call.operands()) {
      if (operand instanceof Operand.FunctionName(String name)) {
        return summary(name);
      }
    }
    return Effects.ANY;
  }

  private Effects summary(String name) {
    Effects known = summaries.get(name);
    if (known != null) {
      return known;
    }
    Function function = functions.get(name);
    if (function == null || !function.defined()) {
      return Effects.VISIBLE; // printf and its like
    }
    if (!open.add(name)) {
      return Effects.ANY;
    }
    Effects effects = Effects.NONE;
    for (Instruction instruction : function.code()) {
      effects = effects.with(effects(instruction));
    }
    open.remove(name);
    summaries.put(name, effects);
    return effects;
  }

  /**
   * Counters of a loop.
   *
   * @param idle registers that the loop writes, on which none of its branches, accesses and loaded
   *     values depends
   * @param others the other registers of its instructions
   * @param decide one of the others is computed from what it was in an earlier round, so that the
   *     loop may end after some rounds
   */
  public record Counters(Set<Register> idle, Set<Register> others, boolean decide) {
    static final Counters NONE = new Counters(Set.of(), Set.of(), false);

    static Counters of(Function function, BitSet body) {
      List<Instruction> arithmetic = new ArrayList<>();
      Set<Register> all = new HashSet<>();
      Set<Register> used = new HashSet<>();
      Map<Register, List<Instruction>> writers = new HashMap<>();
      for (int i = body.nextSetBit(0); i >= 0; i = body.nextSetBit(i + 1)) {
        Instruction instruction = function.code().get(i);
        Set<Register> of = registers(instruction);
        all.addAll(of);
        if (isArithmetic(instruction)) {
          arithmetic.add(instruction);
          Dataflow.writes(
              instruction,
              register ->
                  writers.computeIfAbsent(register, _ -> new ArrayList<>()).add(instruction));
        } else {
          used.addAll(of);
        }
      }
      Deque<Register> open = new ArrayDeque<>(used);
      while (!open.isEmpty()) {
        for (Instruction writer : writers.getOrDefault(open.remove(), List.of())) {
          for (Register register : registers(writer)) {
            if (used.add(register)) {
              open.add(register);
            }
          }
        }
      }
      all.removeAll(used);
      return new Counters(all, used, isCyclic(arithmetic, used));
    }

    Counters withoutIdle() {
      return new Counters(Set.of(), Set.of(), decide);
    }

    private static Set<Register> registers(Instruction instruction) {
      Set<Register> registers = new HashSet<>();
      Dataflow.reads(instruction, registers::add);
      Dataflow.writes(instruction, registers::add);
      return registers;
    }

    /** Returns true if an instruction writes registers and does nothing else. */
    private static boolean isArithmetic(Instruction instruction) {
      return Dataflow.hasResult(instruction)
          && !instruction.name().equals("call")
          && instruction.operands().stream().noneMatch(Operand.Address.class::isInstance);
    }

    /** Returns true if some of the registers are computed from themselves. */
    private static boolean isCyclic(List<Instruction> arithmetic, Set<Register> among) {
      Map<Register, Set<Register>> into = new HashMap<>();
      Map<Register, Integer> waiting = new HashMap<>();
      for (Instruction instruction : arithmetic) {
        Dataflow.writes(
            instruction,
            to ->
                Dataflow.reads(
                    instruction,
                    from -> {
                      if (among.contains(to)
                          && into.computeIfAbsent(from, _ -> new HashSet<>()).add(to)) {
                        waiting.merge(to, 1, Integer::sum);
                      }
                    }));
      }
      Deque<Register> ready = new ArrayDeque<>(into.keySet());
      ready.removeIf(waiting::containsKey);
      while (!ready.isEmpty()) {
        for (Register to : into.getOrDefault(ready.remove(), Set.of())) {
          if (waiting.merge(to, -1, Integer::sum) == 0) {
            waiting.remove(to);
            ready.add(to);
          }
        }
      }
      return !waiting.isEmpty();
    }
  }
}
