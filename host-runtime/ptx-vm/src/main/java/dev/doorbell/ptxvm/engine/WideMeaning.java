package dev.doorbell.ptxvm.engine;

import dev.doorbell.ptxvm.compiler.Convergence;
import dev.doorbell.ptxvm.compiler.FlowGraph;
import java.util.BitSet;
import java.util.function.IntPredicate;

/** What the instructions of a function mean to a warp that goes through them together. */
final class WideMeaning implements Convergence.Semantics {
  private final Program program;
  private final Callee callee;
  private final FlowGraph graph;
  private final BitSet polls;

  /**
   * @param polls branches that close loops which do nothing but poll: there each lane is by itself,
   *     and gives way when it finds nothing
   */
  WideMeaning(Program program, Callee callee, FlowGraph graph, BitSet polls) {
    this.program = program;
    this.callee = callee;
    this.graph = graph;
    this.polls = polls;
  }

  @Override
  public Convergence.Kind kind(int index) {
    Op op = Compiler.op(callee, index);
    if (graph.nodes().get(index).successors().isEmpty()) {
      return Convergence.Kind.LEAVING;
    }
    if (op instanceof MeetingOp) {
      return Convergence.Kind.MEETING;
    }
    if (op instanceof Branch) {
      return polls.get(index) ? Convergence.Kind.LEAVING : Convergence.Kind.BRANCH;
    }
    return graph.nodes().get(index).diverts()
        ? Convergence.Kind.LEAVING
        : Convergence.Kind.PLAIN;
  }

  @Override
  public boolean writesUniform(int index, int slot, IntPredicate uniform) {
    if (Compiler.op(callee, index) instanceof MeetingOp meeting) {
      return meeting.writesUniform(
          slot, operand -> program.isConstant(operand) || uniform.test(operand));
    }
    return onceForAll(index) && graph.nodes().get(index).reads().stream().allMatch(uniform);
  }

  @Override
  public boolean onceForAll(int index) {
    Op bare = Shape.bare(Compiler.op(callee, index));
    return NativeCode.knows(bare)
        && !(bare instanceof MemoryOp memory
            && (memory.space == Space.LOCAL || memory.space == Space.FRAME));
  }

  @Override
  public boolean touchesMemory(int index) {
    Op bare = Shape.bare(Compiler.op(callee, index));
    return bare instanceof MemoryOp || bare instanceof Fence;
  }
}
