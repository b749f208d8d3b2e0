package dev.doorbell.ptxvm.ir;

import java.util.BitSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Finds branches that close loops which only poll: a strong load (or an atomic that may fail), and
 * nothing that another thread could see. Such a loop makes no progress of its own, so its thread
 * should give way after every round.
 */
public final class PollingLoops {
  /** What the branch at an index closes. */
  public enum Kind {
    /** Polls by loads alone: nothing changes until one of the cells is written. */
    LOADS,
    /** Polls by loads and watches a clock as well. */
    LOADS_AND_CLOCK,
    /** Tries an atomic until it succeeds. */
    ATOMIC
  }

  private static final Set<String> STRONG = Set.of("relaxed", "acquire", "volatile", "mmio");
  private static final Set<String> SYNCHRONISING =
      Set.of("bar", "barrier", "shfl", "vote", "match", "redux", "activemask", "elect", "red");

  private final Map<String, Function> functions;
  private final Map<String, Effects> summaries = new HashMap<>();
  private final Set<String> open = new HashSet<>();

  public PollingLoops(Map<String, Function> functions) {
    this.functions = functions;
  }

  private record Effects(boolean strongLoad, boolean atomic, boolean clock, boolean visible) {
    static final Effects NONE = new Effects(false, false, false, false);
    static final Effects VISIBLE = new Effects(false, false, false, true);

    Effects with(Effects other) {
      return new Effects(
          strongLoad || other.strongLoad,
          atomic || other.atomic,
          clock || other.clock,
          visible || other.visible);
    }
  }

  /** The polling branches of {@code function} by their index. */
  public Map<Integer, Kind> of(Function function, ControlFlow flow) {
    Map<Integer, Kind> found = new HashMap<>();
    for (int i = 0; i < function.code().size(); i++) {
      for (int target : Function.targets(function.code().get(i))) {
        Kind kind = target <= i ? kind(function, flow.loop(target, i)) : null;
        if (kind != null) {
          found.put(i, kind);
        }
      }
    }
    return found;
  }

  private @Nullable Kind kind(Function function, BitSet body) {
    Effects effects = Effects.NONE;
    for (int i = body.nextSetBit(0); i >= 0; i = body.nextSetBit(i + 1)) {
      effects = effects.with(effects(function.code().get(i)));
    }
    if (effects.visible || !(effects.strongLoad || effects.atomic)) {
      return null;
    }
    if (effects.atomic) {
      return Kind.ATOMIC;
    }
    return effects.clock ? Kind.LOADS_AND_CLOCK : Kind.LOADS;
  }

  private Effects effects(Instruction instruction) {
    if (instruction.operands().isEmpty()) {
      return Effects.NONE; // ret and exit; anything else is refused later
    }
    List<String> modifiers = instruction.modifiers();
    return switch (instruction.name()) {
      case "ld" -> new Effects(modifiers.stream().anyMatch(STRONG::contains), false, false, false);
      case "st" ->
          modifiers.contains("local") || modifiers.contains("param")
              ? Effects.NONE
              : Effects.VISIBLE;
      case "atom" ->
          triesOnly(instruction) ? new Effects(false, true, false, false) : Effects.VISIBLE;
      case "mov" ->
          instruction.operands().getLast() instanceof Operand.Special(String name)
                  && (name.startsWith("%globaltimer") || name.startsWith("%clock"))
              ? new Effects(false, false, true, false)
              : Effects.NONE;
      case "call" -> call(instruction);
      default -> SYNCHRONISING.contains(instruction.name()) ? Effects.VISIBLE : Effects.NONE;
    };
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
    return Effects.VISIBLE;
  }

  private Effects summary(String name) {
    Effects known = summaries.get(name);
    if (known != null) {
      return known;
    }
    Function function = functions.get(name);
    if (function == null || !function.defined() || !open.add(name)) {
      return Effects.VISIBLE;
    }
    Effects effects = Effects.NONE;
    for (Instruction instruction : function.code()) {
      effects = effects.with(effects(instruction));
    }
    open.remove(name);
    summaries.put(name, effects);
    return effects;
  }
}
