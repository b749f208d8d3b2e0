package dev.doorbell.ptxjit.flow;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Plans how a warp goes through some instructions with all its lanes: chunks of steps, each of
 * which is done once for all lanes, or by one lane after the other.
 */
public final class WarpSchedule {
  private static final int MOST_STEPS = 40;
  private static final int NOWHERE = -1;

  public sealed interface Step {
    record Once(int index) implements Step {}

    record Meet(int index) implements Step {}

    /** One lane after the other goes through some instructions. */
    record Lanes(Stretch stretch) implements Step {}
  }

  /**
   * Turn: what one lane does before the next one does it.
   *
   * @param straight instructions in a row, in the order of the function
   * @param branch one that lanes may take differently, behind them; or -1
   * @param region what lies behind the branch, up to the join
   * @param join where they meet again; -1 when each goes on by itself, or when there is no branch
   * @param end the instruction before which a lane is when it is through; -1 when it is never
   */
  public record Stretch(List<Integer> straight, int branch, BitSet region, int join, int end) {
    public int first() {
      return straight.isEmpty() ? branch : straight.getFirst();
    }
  }

  public sealed interface End {
    record Jump(int from, int to) implements End {}

    /** A branch that all lanes take alike; {@code agree} when that has to be seen first. */
    record Choice(int branch, boolean agree) implements End {}

    /** Each lane goes on by itself at an instruction. */
    record Leave(int index) implements End {}

    record Gone() implements End {}
  }

  /** Steps without a jump between them. */
  public record Chunk(int first, List<Step> steps, End end) {}

  private final FlowGraph graph;
  private final BitSet members;
  private final Webs webs;
  private final DivergenceAnalysis convergence;
  private final DivergenceAnalysis.Semantics semantics;
  private final BitSet leaders = new BitSet();
  private final Map<Integer, Chunk> chunks = new LinkedHashMap<>();
  private final Deque<Integer> open = new ArrayDeque<>();

  /** The instructions of the stretch that is being made, and the webs that they read. */
  private List<Integer> straight = new ArrayList<>();

  private final BitSet readByStraight = new BitSet();

  /** Plans from all meetings on. */
  public WarpSchedule(
      FlowGraph graph,
      BitSet members,
      Webs webs,
      DivergenceAnalysis convergence,
      DivergenceAnalysis.Semantics semantics) {
    this.graph = graph;
    this.members = members;
    this.webs = webs;
    this.convergence = convergence;
    this.semantics = semantics;
    findLeaders();
    for (int i = members.nextSetBit(0); i >= 0; i = members.nextSetBit(i + 1)) {
      if (semantics.kind(i) == DivergenceAnalysis.Kind.CONVERGENCE) {
        open.add(i);
      }
    }
    while (!open.isEmpty()) {
      int first = open.remove();
      if (!chunks.containsKey(first)) {
        chunks.put(first, chunk(first));
      }
    }
  }

  /** The chunks, by their first instruction. */
  public Map<Integer, Chunk> chunks() {
    return chunks;
  }

  private void findLeaders() {
    for (int i = members.nextSetBit(0); i >= 0; i = members.nextSetBit(i + 1)) {
      switch (semantics.kind(i)) {
        case CONVERGENCE -> leaders.set(i);
        case BRANCH -> {
          graph.nodes().get(i).successors().forEach(leaders::set);
          if (convergence.join(i) >= 0) {
            leaders.set(convergence.join(i));
          }
        }
        default -> {}
      }
    }
  }

  private Chunk chunk(int first) {
    List<Step> steps = new ArrayList<>();
    int at = first;
    while (true) {
      boolean full = steps.size() >= MOST_STEPS;
      if (at != first && (full || leaders.get(at))) {
        flush(steps, at);
        return jump(first, steps, at - 1, at);
      }
      if (!members.get(at)) {
        flush(steps, at);
        return new Chunk(first, steps, new End.Jump(at - 1, at));
      }
      switch (semantics.kind(at)) {
        case CONVERGENCE -> steps.add(new Step.Meet(at));
        case LEAVING -> {
          flush(steps, at);
          return new Chunk(first, steps, new End.Leave(at));
        }
        case BRANCH -> {
          return branch(first, steps, at);
        }
        default -> plain(steps, at);
      }
      at++;
    }
  }

  private Chunk jump(int first, List<Step> steps, int from, int to) {
    if (members.get(to)) {
      open.add(to);
    }
    return new Chunk(first, steps, new End.Jump(from, to));
  }

  private Chunk branch(int first, List<Step> steps, int at) {
    List<Integer> successors = graph.nodes().get(at).successors();
    if (successors.size() == 1) {
      flush(steps, at);
      return jump(first, steps, at, successors.getFirst());
    }
    if (convergence.way(at) == DivergenceAnalysis.Way.APART) {
      int join = convergence.join(at);
      Stretch stretch = new Stretch(List.copyOf(straight), at, convergence.region(at), join, join);
      clear();
      steps.add(new Step.Lanes(stretch));
      return join == NOWHERE
          ? new Chunk(first, steps, new End.Gone())
          : jump(first, steps, at, join);
    }
    flush(steps, at);
    successors.stream().filter(members::get).forEach(open::add);
    boolean agree = convergence.way(at) == DivergenceAnalysis.Way.IN_AGREEMENT;
    return new Chunk(first, steps, new End.Choice(at, agree));
  }

  private void plain(List<Step> steps, int at) {
    FlowGraph.Node node = graph.nodes().get(at);
    if (!convergence.isOnce(at)) {
      straight.add(at);
      node.reads().stream().forEach(slot -> readByStraight.set(webs.before(at, slot)));
      return;
    }
    // It moves before the lanes' turns; not where they access memory or read what it writes.
    boolean hinders =
        semantics.touchesMemory(at)
            || node.writes().stream().anyMatch(slot -> readByStraight.get(webs.after(at, slot)));
    if (hinders) {
      flush(steps, at);
    }
    steps.add(new Step.Once(at));
  }

  private void flush(List<Step> steps, int end) {
    if (!straight.isEmpty()) {
      steps.add(
          new Step.Lanes(new Stretch(List.copyOf(straight), NOWHERE, new BitSet(), NOWHERE, end)));
    }
    clear();
  }

  private void clear() {
    straight = new ArrayList<>();
    readByStraight.clear();
  }
}
