package dev.doorbell.ptxjit.warp;

import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.ptxjit.emit.FlowGraphBuilder;
import dev.doorbell.ptxjit.emit.HiddenClass;
import dev.doorbell.ptxjit.emit.InstructionEmitter;
import dev.doorbell.ptxjit.flow.DivergenceAnalysis;
import dev.doorbell.ptxjit.flow.FlowGraph;
import dev.doorbell.ptxjit.flow.WarpSchedule;
import dev.doorbell.ptxjit.flow.Webs;
import dev.doorbell.ptxjit.warp.CompiledWarp.WarpCode;
import dev.doorbell.ptxjit.warp.CompiledWarp.WarpEntry;
import dev.doorbell.ptxvm.engine.decode.Space;
import dev.doorbell.ptxvm.engine.machine.ConvergenceOp;
import dev.doorbell.ptxvm.engine.machine.ConvergenceOp.CompiledCode;
import dev.doorbell.ptxvm.engine.machine.KernelCode.Program;
import dev.doorbell.ptxvm.engine.machine.LinkedFunction;
import dev.doorbell.ptxvm.engine.machine.Op;
import dev.doorbell.ptxvm.engine.machine.VmThread;
import dev.doorbell.ptxvm.engine.machine.Warp;
import dev.doorbell.ptxvm.engine.ops.control.Branch;
import dev.doorbell.ptxvm.engine.ops.memory.Fence;
import dev.doorbell.ptxvm.engine.ops.memory.MemoryOp;
import dev.doorbell.ptxvm.ir.Function;
import java.lang.invoke.MethodHandles;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;

/**
 * The code of a kernel for whole warps. It is made when the lanes of a warp have met for the first
 * time at an operation, for what they may come to from there: what all of them have in common is
 * seen then, and taken for granted from then on by code that checks it at its doors.
 */
@SuppressWarnings("ReferenceEquality") // operations are compared by identity
public final class WarpCompiler {
  private static final int[] MOST_INSTRUCTIONS = {1200, 400, 150};
  private static final int[] PART_BYTES = {4500, 2000};

  private static final int MOST_TRIES = 12;

  /**
   * Warps that came with different values that the code takes for common, before it is compiled
   * anew.
   */
  private static final int MOST_MISMATCHES = 4;

  private final Program program;
  private final AddressSpace.PageTable pages;
  private final int[] counts;
  private final LinkedFunction function;
  private final FlowGraph graph;
  private final List<BitSet> live;
  private final BitSet tracked;

  /** Slots that differed, by the instruction where that was seen. */
  private final Map<Integer, BitSet> differing = new HashMap<>();

  private int tries;

  /**
   * @param counts how often each operation was executed, by place; may be empty
   */
  public WarpCompiler(Program program, AddressSpace.PageTable pages, int[] counts) {
    this.program = program;
    this.pages = pages;
    this.counts = counts;
    this.function = program.functions().getFirst();
    this.graph = FlowGraphBuilder.graph(function, program, counts);
    this.live = graph.liveIn();
    this.tracked = FlowGraphBuilder.tracked(function);
  }

  /** Waits for lanes to converge; false when the kernel has no operation at which they do. */
  public boolean install() {
    boolean converges = false;
    for (int i = 0; i < function.ops.size(); i++) {
      if (function.op(i) instanceof ConvergenceOp op) {
        op.compiled = new Point(i);
        converges = true;
      }
    }
    return converges;
  }

  /** An operation at which lanes converge, and the code from there on once it exists. */
  private final class Point implements CompiledCode {
    private final int index;
    private @Nullable WarpEntry entry;

    Point(int index) {
      this.index = index;
    }

    @Override
    public @Nullable Op enter(Warp warp, VmThread last, ConvergenceOp op, int members) {
      CompiledWarp together = CompiledWarp.of(warp);
      if (Integer.bitCount(members) < CompiledWarp.FEWEST || !together.isWilling()) {
        return null;
      }
      WarpEntry found = find(op, warp.lanes, members);
      if (found != null) {
        together.claim(last, members);
      }
      return found;
    }

    /** The entry, compiled if need be; null when lanes had better stay by themselves. */
    private @Nullable WarpEntry find(ConvergenceOp op, VmThread[] lanes, int members) {
      synchronized (WarpCompiler.this) {
        if (entry != null && entry.code.mismatches < MOST_MISMATCHES) {
          return entry;
        }
        if (tries == MOST_TRIES) {
          if (entry == null) {
            op.compiled = null;
          }
          return entry;
        }
        tries++;
        observe(index, lanes, members);
        for (int most : MOST_INSTRUCTIONS) {
          if (compile(index, most)) {
            return entry;
          }
        }
        op.compiled = null;
        return null;
      }
    }
  }

  /** Notes which of the values that are alive differ from lane to lane. */
  private void observe(int index, VmThread[] lanes, int members) {
    BitSet known = differing.computeIfAbsent(index, key -> new BitSet());
    VmThread first = lanes[Integer.numberOfTrailingZeros(members)];
    for (int left = members; left != 0; left &= left - 1) {
      VmThread lane = lanes[Integer.numberOfTrailingZeros(left)];
      live.get(index).stream().filter(slot -> lane.r[slot] != first.r[slot]).forEach(known::set);
    }
  }

  private boolean compile(int index, int most) {
    BitSet members = reach(index, most);
    BitSet polls = polls(true);
    WarpSemantics meaning = new WarpSemantics(program, function, graph, polls);
    Webs webs = new Webs(graph, live, members);
    DivergenceAnalysis divergence =
        new DivergenceAnalysis(graph, members, webs, meaning, varying(index, members, webs));
    WarpSchedule plan = new WarpSchedule(graph, members, webs, divergence, meaning);
    for (int partBytes : PART_BYTES) {
      RegisterAllocation registers =
          new RegisterAllocation(program, function, graph, live, webs, divergence);
      WarpClassEmitter writer = new WarpClassEmitter(registers, plan, meaning, pages, polls(false));
      byte[] file = writer.write(partBytes);
      if (HiddenClass.isCompilable(file)) {
        link(
            writer,
            registers,
            plan,
            HiddenClass.define(
                MethodHandles.lookup(), file, writer.classData.objects(), WarpCode.class));
        return true;
      }
    }
    return false;
  }

  /**
   * Returns what lanes may come to, nearest first. Where it is known what ran until the kernel was
   * compiled, that tells which ways are taken from there; what had not run by then, as the meeting
   * itself may not have, tells nothing about where it leads.
   */
  private BitSet reach(int index, int most) {
    BitSet members = new BitSet();
    Deque<Integer> open = new ArrayDeque<>(List.of(index));
    while (!open.isEmpty() && members.cardinality() < most) {
      int at = open.remove();
      if (!members.get(at)) {
        members.set(at);
        graph.nodes().get(at).successors().stream()
            .filter(to -> ran(to) || !ran(at))
            .forEach(open::add);
      }
    }
    return members;
  }

  /** False for what is known not to have run when the kernel was compiled. */
  private boolean ran(int index) {
    return counts.length == 0 || graph.nodes().get(index).count() > 0;
  }

  /** Branches that close loops which may poll: those that do nothing else, or the others. */
  private BitSet polls(boolean pure) {
    BitSet polls = new BitSet();
    for (int i = 0; i < graph.size(); i++) {
      if (function.op(i) instanceof Branch branch
          && branch.loop != null
          && branch.loop.pure() == pure
          && tracked.get(i)
          && Function.targets(function.function.code().get(i)).getFirst() <= i) {
        polls.set(i);
      }
    }
    return polls;
  }

  /** Webs whose lanes' values are not known to be the same where they come from. */
  private BitSet varying(int index, BitSet members, Webs webs) {
    BitSet varying = new BitSet();
    varying.set(0, webs.count());
    for (int i = members.nextSetBit(0); i >= 0; i = members.nextSetBit(i + 1)) {
      int at = i;
      graph.nodes().get(i).writes().stream().forEach(slot -> varying.clear(webs.after(at, slot)));
    }
    BitSet differ = differing.getOrDefault(index, new BitSet());
    live.get(index).stream()
        .forEach(slot -> varying.set(webs.before(index, slot), differ.get(slot)));
    return varying;
  }

  private void link(
      WarpClassEmitter writer,
      RegisterAllocation registers,
      WarpSchedule plan,
      Class<? extends WarpCode> type) {
    WarpCode code = HiddenClass.instance(type);
    code.entries = new WarpEntry[plan.chunks().size()];
    List<WarpEntry> ways = new ArrayList<>();
    for (int first : plan.chunks().keySet()) {
      int number = writer.number(first);
      int place = registers.op(first).place;
      code.entries[number] = new WarpEntry(code, number, null, 0, place);
      if (registers.op(first) instanceof ConvergenceOp convergence) {
        ways.add(new WarpEntry(code, number, convergence, registers.before(first), place));
      }
    }
    code.crossings = registers.crossings();
    code.columns = registers.columns();
    code.uniforms = registers.uniforms();
    for (WarpEntry way : ways) {
      if (way.convergence != null && way.convergence.compiled instanceof Point point) {
        point.entry = way;
      }
    }
  }

  static final class WarpSemantics implements DivergenceAnalysis.Semantics {
    private final Program program;
    private final LinkedFunction callee;
    private final FlowGraph graph;
    private final BitSet polls;

    /**
     * @param polls branches that close loops which do nothing but poll: there each lane is by
     *     itself, and gives way when it finds nothing
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
}
