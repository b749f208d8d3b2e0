package dev.doorbell.ptxvm.ir;

import java.util.BitSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Finds branches that close loops which may poll: they load with a strong access, or try an atomic
 * that may fail, directly or in a function that they call. Whether a round of such a loop found
 * nothing is seen when it runs; a thread should then give way.
 */
public final class PollingLoops {
  /**
   * A loop that may poll.
   *
   * @param pure nothing in it, calls included, can be seen by another thread: every round is a poll
   * @param watchesClock it reads a clock, so that it may end though no cell changes
   */
  public record Loop(boolean pure, boolean watchesClock) {}

  private static final Set<String> STRONG = Set.of("relaxed", "acquire", "volatile", "mmio");
  private static final Set<String> SYNCHRONISING =
      Set.of(
          "bar", "barrier", "shfl", "vote", "match", "redux", "activemask", "elect", "red", "cp");

  private final Map<String, Function> functions;
  private final Map<String, Effects> summaries = new HashMap<>();
  private final Set<String> open = new HashSet<>();

  public PollingLoops(Map<String, Function> functions) {
    this.functions = functions;
  }

  private record Effects(boolean polls, boolean clock, boolean visible) {
    static final Effects NONE = new Effects(false, false, false);
    static final Effects POLLS = new Effects(true, false, false);
    static final Effects VISIBLE = new Effects(false, false, true);

    /** Of code that is not known: anything. */
    static final Effects ANY = new Effects(true, true, true);

    Effects with(Effects other) {
      return new Effects(polls || other.polls, clock || other.clock, visible || other.visible);
    }
  }

  /** The loops of {@code function} that may poll, by the index of the branch that closes them. */
  public Map<Integer, Loop> of(Function function, ControlFlow flow) {
    Map<Integer, Loop> found = new HashMap<>();
    Effects[] effects = function.code().stream().map(this::effects).toArray(Effects[]::new);
    for (int i = 0; i < function.code().size(); i++) {
      for (int target : Function.targets(function.code().get(i))) {
        Loop loop = target <= i ? loop(effects, flow.loop(target, i)) : null;
        if (loop != null) {
          found.put(i, loop);
        }
      }
    }
    return found;
  }

  private static @Nullable Loop loop(Effects[] effects, BitSet body) {
    boolean polls = false;
    boolean clock = false;
    boolean visible = false;
    for (int i = body.nextSetBit(0); i >= 0; i = body.nextSetBit(i + 1)) {
      polls |= effects[i].polls;
      clock |= effects[i].clock;
      visible |= effects[i].visible;
    }
    return polls ? new Loop(!visible, clock) : null;
  }

  private Effects effects(Instruction instruction) {
    if (instruction.operands().isEmpty()) {
      return Effects.NONE; // ret and exit; anything else is refused later
    }
    List<String> modifiers = instruction.modifiers();
    return switch (instruction.name()) {
      case "ld" -> modifiers.stream().anyMatch(STRONG::contains) ? Effects.POLLS : Effects.NONE;
      case "st" ->
          modifiers.contains("local") || modifiers.contains("param")
              ? Effects.NONE
              : Effects.VISIBLE;
      case "atom" -> triesOnly(instruction) ? Effects.POLLS : Effects.VISIBLE;
      case "mov" ->
          instruction.operands().getLast() instanceof Operand.Special(String name)
                  && (name.startsWith("%globaltimer") || name.startsWith("%clock"))
              ? new Effects(false, true, false)
              : Effects.NONE;
      case "mbarrier" ->
          instruction.has("test_wait") || instruction.has("try_wait")
              ? Effects.POLLS
              : Effects.VISIBLE;
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
}
