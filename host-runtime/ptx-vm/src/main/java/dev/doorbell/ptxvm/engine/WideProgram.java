package dev.doorbell.ptxvm.engine;

import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.ptxvm.compiler.Convergence;
import dev.doorbell.ptxvm.compiler.FlowGraph;
import dev.doorbell.ptxvm.compiler.Webs;
import dev.doorbell.ptxvm.compiler.WidePlan;
import dev.doorbell.ptxvm.ir.Function;
import java.lang.invoke.MethodHandles;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The code of a kernel for whole warps. It is made when the lanes of a warp have met for the first
 * time at an operation, for what they may come to from there: what all of them have in common is
 * seen then, and taken for granted from then on by code that checks it at its doors.
 */
@SuppressWarnings("ReferenceEquality") // operations are compared by identity
final class WideProgram {
  private static final int[] MOST_INSTRUCTIONS = {1200, 400, 150};
  private static final int[] PART_BYTES = {4500, 2000};

  /** How often code is made for one kernel. */
  private static final int MOST_TRIES = 12;

  /**
   * Lanes that came with different values that the code takes for common, before it is made anew.
   */
  private static final int MOST_STRANGERS = 4;

  private final Program program;
  private final NativeCode.Memory memory;
  private final int[] counts;
  private final Callee callee;
  private final FlowGraph graph;
  private final List<BitSet> live;
  private final BitSet tracked;

  /** Slots that differed, by the instruction where that was seen. */
  private final Map<Integer, BitSet> differing = new HashMap<>();

  private int tries;

  /**
   * @param counts how often each operation was executed, by place; may be empty
   */
  WideProgram(Program program, AddressSpace memory, int[] counts) {
    this.program = program;
    this.memory = new NativeCode.Memory(memory.pageTable());
    this.counts = counts;
    this.callee = program.callees().getFirst();
    this.graph = Shape.graph(callee, program, counts);
    this.live = graph.liveIn();
    this.tracked = Compiler.tracked(callee);
  }

  /** True when the kernel has operations at which lanes meet. */
  static boolean suits(Program program) {
    return program.callees().getFirst().ops.stream().anyMatch(MeetingOp.class::isInstance);
  }

  /**
   * The way in at a meeting, made if need be; null when lanes had better stay by themselves.
   *
   * @param members the lanes that live, all of which are there
   */
  synchronized @Nullable WideDoor door(MeetingOp op, VmThread[] lanes, int members) {
    WideDoor door = op.door;
    if (door != null && door.code.strangers < MOST_STRANGERS) {
      return door;
    }
    int index = callee.ops.indexOf(op);
    if (index < 0 || tries == MOST_TRIES) {
      op.apart = op.apart || index < 0 || door == null;
      return door;
    }
    tries++;
    look(index, lanes, members);
    for (int most : MOST_INSTRUCTIONS) {
      if (make(index, most)) {
        return op.door;
      }
    }
    op.apart = true;
    return null;
  }

  /** Notes which of the values that are alive differ from lane to lane. */
  private void look(int index, VmThread[] lanes, int members) {
    BitSet known = differing.computeIfAbsent(index, key -> new BitSet());
    VmThread first = lanes[Integer.numberOfTrailingZeros(members)];
    for (int left = members; left != 0; left &= left - 1) {
      VmThread lane = lanes[Integer.numberOfTrailingZeros(left)];
      live.get(index).stream().filter(slot -> lane.r[slot] != first.r[slot]).forEach(known::set);
    }
  }

  private boolean make(int index, int most) {
    BitSet members = reach(index, most);
    BitSet polls = polls(true);
    WideMeaning meaning = new WideMeaning(program, callee, graph, polls);
    Webs webs = new Webs(graph, live, members);
    Convergence convergence =
        new Convergence(graph, members, webs, meaning, varying(index, members, webs));
    WidePlan plan = new WidePlan(graph, members, webs, convergence, meaning);
    for (int partBytes : PART_BYTES) {
      WideHomes homes = new WideHomes(program, callee, graph, live, webs, convergence);
      WideWriter writer = new WideWriter(homes, plan, meaning, memory, polls(false));
      byte[] file = writer.write(partBytes);
      if (Compiler.codeBytes(file) < Compiler.HUGE_METHOD) {
        link(writer, homes, plan, define(file, writer.classData.objects()));
        return true;
      }
    }
    return false;
  }

  /**
   * What lanes may come to, nearest first. Where it is known what ran until the kernel was
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
      if (Compiler.op(callee, i) instanceof Branch branch
          && branch.loop != null
          && branch.loop.pure() == pure
          && tracked.get(i)
          && Function.targets(callee.function.code().get(i)).getFirst() <= i) {
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
      WideWriter writer, WideHomes homes, WidePlan plan, Class<? extends WideCode> type) {
    WideCode code = instance(type);
    code.doors = new WideDoor[plan.chunks().size()];
    List<WideDoor> ways = new ArrayList<>();
    for (int first : plan.chunks().keySet()) {
      int number = writer.number(first);
      int place = homes.op(first).place;
      code.doors[number] = new WideDoor(code, number, null, 0, place);
      if (homes.op(first) instanceof MeetingOp meeting) {
        ways.add(new WideDoor(code, number, meeting, homes.before(first), place));
      }
    }
    code.crossings = homes.crossings();
    code.columns = homes.columns();
    code.uniforms = homes.uniforms();
    for (WideDoor way : ways) {
      if (way.meeting != null) {
        way.meeting.door = way;
      }
    }
  }

  private static Class<? extends WideCode> define(byte[] file, List<Object> data) {
    try {
      return MethodHandles.lookup()
          .defineHiddenClassWithClassData(file, data, false)
          .lookupClass()
          .asSubclass(WideCode.class);
    } catch (IllegalAccessException e) {
      throw new IllegalStateException("generated code was refused", e);
    }
  }

  private static WideCode instance(Class<? extends WideCode> type) {
    try {
      return type.getDeclaredConstructor().newInstance();
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(type.getName(), e);
    }
  }
}
