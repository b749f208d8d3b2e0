package dev.doorbell.ptxjit.block;

import dev.doorbell.ptxjit.emit.InstructionEmitter;
import dev.doorbell.ptxvm.engine.machine.Op;
import dev.doorbell.ptxvm.engine.ops.control.Branch;
import dev.doorbell.ptxvm.engine.ops.memory.Block;
import dev.doorbell.ptxvm.engine.ops.memory.Load;
import dev.doorbell.ptxvm.engine.ops.memory.LoadOp.NonBlockingLoad;
import dev.doorbell.ptxvm.engine.ops.memory.MemoryOp;
import dev.doorbell.ptxvm.engine.ops.memory.ScoreboardWait;
import dev.doorbell.ptxvm.engine.ops.memory.Store;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Operations that are compiled as one: those of a block and what may be executed behind them, in
 * straight runs. A run begins with the block or where another run jumps to, and ends with a jump or
 * before what is left to the interpreter.
 */
final class Trace {
  /**
   * An operation of a run.
   *
   * @param at where the interpreter would be: the operation itself, its wait, or its block
   * @param op the operation with its guard
   * @param awaited the slots whose loads it waits for; null: none
   */
  @SuppressWarnings("ArrayRecordComponent") // compared with nothing
  record Step(Op at, Op op, int @Nullable [] awaited) {
    /** Returns true if it computes; otherwise it is an access or a jump. */
    boolean computes() {
      return InstructionEmitter.computes(op.bare());
    }
  }

  /**
   * A straight run.
   *
   * @param next what comes behind it; of a jump under a condition, where that does not hold
   * @param jump the jump that it ends with, or null
   */
  record Run(List<Step> steps, Op next, @Nullable Branch jump) {}

  private final int most;
  private final List<Run> runs = new ArrayList<>();

  /** The index of the run that begins at an operation. */
  private final IdentityHashMap<Op, Integer> starts = new IdentityHashMap<>();

  private int size;

  private Trace(int most) {
    this.most = most;
  }

  /**
   * The trace that begins with a block.
   *
   * @param most operations after which no other run is added
   * @return null where control leaves the function
   */
  static @Nullable Trace from(Block block, int most) {
    Trace trace = new Trace(most);
    if (!trace.add(block)) {
      return null;
    }
    for (int i = 0; i < trace.runs.size(); i++) {
      Run run = trace.runs.get(i);
      trace.add(run.next());
      Branch jump = run.jump();
      if (jump != null && jump.target != null) {
        trace.add(jump.target);
      }
    }
    return trace;
  }

  private boolean add(Op start) {
    if (starts.containsKey(start) || (size >= most && !runs.isEmpty())) {
      return true;
    }
    List<Step> steps = new ArrayList<>();
    Op at = start;
    Branch jump = null;
    while (jump == null) {
      List<Step> more = steps(at);
      if (more.isEmpty() || (!steps.isEmpty() && size + steps.size() + more.size() > most)) {
        break;
      }
      steps.addAll(more);
      Op last = more.getLast().op();
      if (last instanceof Branch branch) {
        jump = branch;
      }
      Op next = last.next;
      if (next == null) {
        return false;
      }
      at = next;
    }
    if (jump != null && jump.target == null) {
      return false;
    }
    if (!steps.isEmpty()) {
      starts.put(start, runs.size());
      runs.add(new Run(List.copyOf(steps), at, jump));
      size += steps.size();
    }
    return true;
  }

  /** Returns what the interpreter executes next at a place; empty: it does that alone. */
  private static List<Step> steps(Op at) {
    if (at instanceof Block block) {
      List<Step> steps = new ArrayList<>();
      for (Op op : block.operations()) {
        boolean first = steps.isEmpty();
        steps.add(new Step(first ? block : op, op, first ? block.awaited() : null));
      }
      return steps;
    }
    boolean waits = at instanceof ScoreboardWait wait && wait.isOfSome();
    Op op = waits ? ((ScoreboardWait) at).inner() : at;
    return isPart(op)
        ? List.of(new Step(at, op, waits ? ((ScoreboardWait) at).slots() : null))
        : List.of();
  }

  private static boolean isPart(Op op) {
    Op bare = op.bare();
    if (op instanceof ScoreboardWait || op instanceof Block) {
      return false;
    }
    return switch (bare) {
      case Branch branch -> op.equals(branch) && branch.loop == null;
      case NonBlockingLoad load -> true;
      case Load load -> isPlain(load);
      case Load.VectorLoad load -> isPlain(load);
      case Store store -> isPlain(store);
      case Store.VectorStore store -> isPlain(store);
      default -> InstructionEmitter.computes(bare);
    };
  }

  /** Returns true if an access is weak: nothing waits for it or is ordered by it. */
  private static boolean isPlain(MemoryOp access) {
    return !MemoryOp.isStrong(access.access);
  }

  /** The runs; the first one is the block's. */
  List<Run> runs() {
    return runs;
  }

  /** The index of the run that begins at {@code op}; -1: the interpreter goes on there. */
  int run(Op op) {
    return starts.getOrDefault(op, -1);
  }

  /** Operations of all runs: no more are executed without a jump back. */
  int size() {
    return size;
  }
}
