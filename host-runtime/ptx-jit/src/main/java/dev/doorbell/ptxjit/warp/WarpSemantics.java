package dev.doorbell.ptxjit.warp;

import dev.doorbell.ptxjit.emit.InstructionEmitter;
import dev.doorbell.ptxjit.flow.DivergenceAnalysis;
import dev.doorbell.ptxjit.flow.FlowGraph;
import dev.doorbell.ptxvm.engine.decode.Space;
import dev.doorbell.ptxvm.engine.machine.ConvergenceOp;
import dev.doorbell.ptxvm.engine.machine.LinkedFunction;
import dev.doorbell.ptxvm.engine.machine.Op;
import dev.doorbell.ptxvm.engine.machine.Program;
import dev.doorbell.ptxvm.engine.ops.control.Branch;
import dev.doorbell.ptxvm.engine.ops.memory.Fence;
import dev.doorbell.ptxvm.engine.ops.memory.MemoryOp;
import java.util.BitSet;
import java.util.function.IntPredicate;

/** What the instructions of a function mean to a warp that goes through them together. */
final class WarpSemantics implements DivergenceAnalysis.Semantics {
  private final Program program;
  private final LinkedFunction callee;
  private final FlowGraph graph;
  private final BitSet polls;

  /**
   * @param polls branches that close loops which do nothing but poll: there each lane is by itself,
   *     and gives way when it finds nothing
   */
  WarpSemantics(Program program, LinkedFunction callee, FlowGraph graph, BitSet polls) {
    this.program = program;
    this.callee = callee;
    this.graph = graph;
    this.polls = polls;
  }

  @Override
  public DivergenceAnalysis.Kind kind(int index) {
    Op op = callee.op(index);
    if (graph.nodes().get(index).successors().isEmpty()) {
      return DivergenceAnalysis.Kind.LEAVING;
    }
    if (op instanceof ConvergenceOp) {
      return DivergenceAnalysis.Kind.CONVERGENCE;
    }
    if (op instanceof Branch) {
      return polls.get(index) ? DivergenceAnalysis.Kind.LEAVING : DivergenceAnalysis.Kind.BRANCH;
    }
    return graph.nodes().get(index).diverts()
        ? DivergenceAnalysis.Kind.LEAVING
        : DivergenceAnalysis.Kind.PLAIN;
  }

  @Override
  public boolean writesUniform(int index, int slot, IntPredicate uniform) {
    if (callee.op(index) instanceof ConvergenceOp meeting) {
      return meeting.writesUniform(
          slot, operand -> program.isConstant(operand) || uniform.test(operand));
    }
    return onceForAll(index) && graph.nodes().get(index).reads().stream().allMatch(uniform);
  }

  @Override
  public boolean onceForAll(int index) {
    Op bare = callee.op(index).bare();
    return InstructionEmitter.knows(bare)
        && !(bare instanceof MemoryOp memory
            && (memory.space == Space.LOCAL || memory.space == Space.FRAME));
  }

  @Override
  public boolean touchesMemory(int index) {
    Op bare = callee.op(index).bare();
    return bare instanceof MemoryOp || bare instanceof Fence;
  }
}
