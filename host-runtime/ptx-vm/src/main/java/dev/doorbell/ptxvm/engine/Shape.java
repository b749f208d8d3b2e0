package dev.doorbell.ptxvm.engine;

import dev.doorbell.ptxvm.compiler.FlowGraph;
import dev.doorbell.ptxvm.ir.ControlFlow;
import dev.doorbell.ptxvm.ir.Dataflow;
import dev.doorbell.ptxvm.ir.Instruction;
import dev.doorbell.ptxvm.ir.Slots;
import java.util.BitSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;

/** What the compiler needs to know of an operation before it writes any bytecode for it. */
final class Shape {
  /**
   * Operations that are executed through their object and always go on with the next one; any other
   * that the compiler has no bytecode for may wait, jump or end the thread.
   */
  private static final Set<String> STRAIGHT =
      Set.of(
          "ld",
          "ldu",
          "st",
          "atom",
          "red",
          "fence",
          "membar",
          "mov",
          "cvta",
          "isspacep",
          "cvt",
          "setp",
          "set",
          "selp",
          "slct",
          "addc",
          "subc",
          "madc",
          "add",
          "sub",
          "mad",
          "lop3",
          "bfi",
          "prefetch",
          "prefetchu",
          "discard",
          "applypriority",
          "pmevent");

  private Shape() {}

  /** The operation itself, without its guard. */
  static Op bare(Op op) {
    return op instanceof Guarded guarded ? guarded.inner : op;
  }

  /** True when control may leave the region at {@code op} and come back behind it. */
  static boolean diverts(Op op, Instruction instruction) {
    Op bare = bare(op);
    boolean computes =
        bare instanceof UnaryOp || bare instanceof BinaryOp || bare instanceof TernaryOp;
    return !computes && !(bare instanceof Branch) && !STRAIGHT.contains(instruction.name());
  }

  /** The flow graph of a function. */
  static FlowGraph graph(Callee callee, Program program, int[] counts) {
    List<Instruction> code = callee.function.code();
    ControlFlow flow = new ControlFlow(callee.function);
    return new FlowGraph(
        IntStream.range(0, code.size())
            .mapToObj(i -> node(callee, program, flow, i, code.get(i), counts))
            .toList());
  }

  private static FlowGraph.Node node(
      Callee callee,
      Program program,
      ControlFlow flow,
      int index,
      Instruction instruction,
      int[] counts) {
    Op op = Compiler.op(callee, index);
    Slots slots = Compiler.slots(callee);
    BitSet reads = new BitSet();
    BitSet writes = new BitSet();
    Dataflow.reads(instruction, register -> reads.set(callee.firstSlot + slots.of(register)));
    Dataflow.writes(instruction, register -> writes.set(callee.firstSlot + slots.of(register)));
    for (int slot : NativeCode.sources(bare(op))) {
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
    Op bare = bare(op);
    int guard = op instanceof Guarded ? 9 : 0;
    if (bare instanceof Branch) {
      return 14;
    }
    if (NativeCode.knows(bare)) {
      return guard + (bare instanceof MemoryOp ? 95 : 16);
    }
    return guard + 12 + 9 * (reads.cardinality() + writes.cardinality()) + (diverts ? 140 : 0);
  }
}
