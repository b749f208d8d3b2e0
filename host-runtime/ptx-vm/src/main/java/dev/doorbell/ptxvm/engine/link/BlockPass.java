package dev.doorbell.ptxvm.engine.link;

import dev.doorbell.ptxvm.engine.machine.KernelCode.Program;
import dev.doorbell.ptxvm.engine.machine.Op;
import dev.doorbell.ptxvm.engine.ops.arithmetic.Moves;
import dev.doorbell.ptxvm.engine.ops.arithmetic.Rows.BinaryOp;
import dev.doorbell.ptxvm.engine.ops.arithmetic.Rows.TernaryOp;
import dev.doorbell.ptxvm.engine.ops.arithmetic.Rows.UnaryOp;
import dev.doorbell.ptxvm.engine.ops.control.Branch;
import dev.doorbell.ptxvm.engine.ops.memory.Block;
import dev.doorbell.ptxvm.engine.ops.memory.ScoreboardWait;
import dev.doorbell.ptxvm.ir.ControlFlow;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Gathers operations of a function that only compute into blocks: each begins where control may
 * come from elsewhere, behind an access, or where a load is waited for, and ends before the next
 * such place, or with a branch.
 */
final class BlockPass {
  private static final int FEWEST = 3;

  /** So that the code of a block stays below what the host compiles. */
  private static final int MOST = 150;

  private final List<@Nullable Op> ops;
  private final int hot;

  private BlockPass(List<@Nullable Op> ops, int hot) {
    this.ops = ops;
    this.hot = hot;
  }

  /**
   * Replaces the first operation of each block of a function that is not linked yet.
   *
   * @param hot executions after which a block is compiled
   */
  static void apply(ControlFlow flow, List<@Nullable Op> ops, int hot) {
    new BlockPass(ops, hot).gather(leaders(flow, ops.size()));
  }

  private void gather(BitSet leaders) {
    List<Op> run = new ArrayList<>();
    for (int i = 0; i <= ops.size(); i++) {
      Op op = i < ops.size() ? ops.get(i) : null;
      boolean waits = op instanceof ScoreboardWait;
      if (op == null || waits || leaders.get(i) || !isPart(op) || run.size() == MOST) {
        replace(run, i);
        run.clear();
      }
      if (op != null && isPart(op)) {
        run.add(op);
        if (op.bare() instanceof Branch) {
          replace(run, i + 1);
          run.clear();
        }
      }
    }
  }

  /** Returns the places where control may come from elsewhere. */
  static BitSet leaders(ControlFlow flow, int size) {
    BitSet leaders = new BitSet();
    for (int i = 0; i < size; i++) {
      for (int next : flow.successors(i)) {
        if (next != i + 1) {
          leaders.set(next);
        }
      }
    }
    return leaders;
  }

  private static boolean isPart(Op op) {
    return switch (op.bare()) {
          case UnaryOp unary -> true;
          case BinaryOp binary -> true;
          case TernaryOp ternary -> true;
          case Moves.Move move -> true;
          case Moves.Pack pack -> true;
          case Moves.Unpack unpack -> true;
          case Branch branch -> branch.loop == null;
          default -> false;
        }
        && (!(op instanceof ScoreboardWait wait) || wait.isOfSome());
  }

  /** Puts a block in place of the first operation of those before {@code end}. */
  private void replace(List<Op> run, int end) {
    if (run.size() >= FEWEST) {
      ops.set(end - run.size(), Block.of(List.copyOf(run), hot));
    }
  }

  /** Says to the blocks of a kernel what they are linked into. */
  static void linked(Program program) {
    program.functions().stream()
        .flatMap(function -> function.ops.stream())
        .forEach(
            op -> {
              if (op instanceof Block block) {
                block.linked(program);
              }
            });
  }
}
