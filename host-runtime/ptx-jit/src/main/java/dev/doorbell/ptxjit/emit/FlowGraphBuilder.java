package dev.doorbell.ptxjit.emit;

import dev.doorbell.ptxjit.flow.FlowGraph;
import dev.doorbell.ptxvm.engine.machine.KernelCode.Program;
import dev.doorbell.ptxvm.engine.machine.LinkedFunction;
import dev.doorbell.ptxvm.engine.machine.Op;
import dev.doorbell.ptxvm.engine.ops.arithmetic.Rows.BinaryOp;
import dev.doorbell.ptxvm.engine.ops.arithmetic.Rows.TernaryOp;
import dev.doorbell.ptxvm.engine.ops.arithmetic.Rows.UnaryOp;
import dev.doorbell.ptxvm.engine.ops.control.Branch;
import dev.doorbell.ptxvm.engine.ops.control.Guarded;
import dev.doorbell.ptxvm.engine.ops.memory.MemoryOp;
import dev.doorbell.ptxvm.ir.ControlFlow;
import dev.doorbell.ptxvm.ir.Dataflow;
import dev.doorbell.ptxvm.ir.Function;
import dev.doorbell.ptxvm.ir.Instruction;
import dev.doorbell.ptxvm.ir.Opcode;
import java.util.BitSet;
import java.util.List;
import java.util.stream.IntStream;

/** Properties of an operation that the compiler needs before it emits bytecode for it. */
public final class FlowGraphBuilder {
  /** Larger loops that also do something visible are not watched for polling. */
  private static final int MOST_WATCHED = 96;

  private FlowGraphBuilder() {}

  /**
   * True when control may leave the region at {@code op} and come back behind it: an operation that
   * the compiler has no bytecode for, unless it always goes on with the next one.
   */
  static boolean diverts(Op op, Instruction instruction) {
    Op bare = op.bare();
    boolean computes =
        bare instanceof UnaryOp || bare instanceof BinaryOp || bare instanceof TernaryOp;
    return !computes && !(bare instanceof Branch) && !Opcode.of(instruction.name()).straight();
  }

  public static FlowGraph graph(LinkedFunction callee, Program program, int[] counts) {
    List<Instruction> code = callee.function.code();
    ControlFlow flow = new ControlFlow(callee.function);
    return new FlowGraph(
        IntStream.range(0, code.size())
            .mapToObj(i -> node(callee, program, flow, i, code.get(i), counts))
            .toList());
  }

  private static FlowGraph.Node node(
      LinkedFunction callee,
      Program program,
      ControlFlow flow,
      int index,
      Instruction instruction,
      int[] counts) {
    Op op = callee.op(index);
    BitSet reads = new BitSet();
    BitSet writes = new BitSet();
    Dataflow.reads(instruction, register -> reads.set(callee.slot(register)));
    Dataflow.writes(instruction, register -> writes.set(callee.slot(register)));
    for (int slot : InstructionEmitter.sources(op.bare())) {
      if (!program.isConstant(slot)) {
        reads.set(slot);
      }
    }
    boolean diverts = diverts(op, instruction);
    int count = op.place < counts.length ? counts[op.place] : 0;
    return new FlowGraph.Node(
        IntStream.of(flow.successors(index)).boxed().toList(),
        reads,
        writes,
        instruction.guard() == null,
        diverts,
        bytes(op, reads, writes, diverts),
        count);
  }

  /** A rough size: what matters is that a region does not come out much larger than planned. */
  private static int bytes(Op op, BitSet reads, BitSet writes, boolean diverts) {
    Op bare = op.bare();
    int guard = op instanceof Guarded ? 9 : 0;
    if (bare instanceof Branch) {
      return 14;
    }
    if (InstructionEmitter.knows(bare)) {
      return guard + (bare instanceof MemoryOp ? 95 : 16);
    }
    return guard + 12 + 9 * (reads.cardinality() + writes.cardinality()) + (diverts ? 140 : 0);
  }

  /**
   * Returns where loads and effects are noted, so that a round that found nothing is recognised: in
   * functions, which loops of others may call, and in loops that may poll. A large loop that also
   * acts is let run; the budget bounds what it wastes.
   */
  public static BitSet tracked(LinkedFunction callee) {
    BitSet tracked = new BitSet();
    int size = callee.ops.size();
    if (!callee.function.entry()) {
      tracked.set(0, size);
      return tracked;
    }
    ControlFlow flow = new ControlFlow(callee.function);
    for (int i = 0; i < size; i++) {
      if (callee.op(i) instanceof Branch branch && branch.loop != null) {
        for (int target : Function.targets(callee.function.code().get(i))) {
          BitSet body = flow.loop(target, i);
          if (target <= i && (branch.loop.pure() || body.cardinality() <= MOST_WATCHED)) {
            tracked.or(body);
          }
        }
      }
    }
    return tracked;
  }
}
