package dev.doorbell.ptxjit.flow;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.function.IntPredicate;

/**
 * Finds what the lanes of a warp have in common when they go through some instructions together:
 * which values are the same in all of them, which branches they take together, and where they meet
 * again behind a branch that they may take differently.
 *
 * <p>Divergence analysis after Sampaio et al. (TOPLAS 2013), with two simplifications: whatever is
 * written where lanes may be apart counts as varying, and the values that are alive at the entrance
 * are assumed to be as they were seen there; whoever enters checks that.
 */
public final class DivergenceAnalysis {
  private static final int NO_JOIN = -1;
  private static final int MOST_ABSORBED = 24;

  public enum Kind {
    /** It goes on with the next one. */
    PLAIN,
    /** It goes on at one of two places. */
    BRANCH,
    /** The lanes of the warp meet here. */
    CONVERGENCE,
    /** Each lane goes on by itself from here. */
    LEAVING
  }

  /** Agreement of the lanes at a branch. */
  public enum Way {
    /** All alike: the condition is the same for all. */
    TOGETHER,
    /** All alike or not at all: they compare their conditions, since warp operations follow. */
    IN_AGREEMENT,
    /** One lane after the other, up to the join. */
    APART
  }

  public interface Semantics {
    Kind kind(int index);

    /**
     * True when {@code slot} gets the same value in all lanes that execute it together.
     *
     * @param uniform which slots hold the same value in all lanes before it
     */
    public boolean writesUniform(int index, int slot, IntPredicate uniform);

    /** True when once is enough for all lanes, given that all that it reads is uniform. */
    boolean onceForAll(int index);

    /** True when it loads, stores or orders: such instructions keep their order. */
    boolean touchesMemory(int index);
  }

  private final FlowGraph graph;
  private final BitSet members;
  private final Webs webs;
  private final Semantics semantics;
  private final BitSet varying;
  private final BitSet apart = new BitSet();
  private final int[] join;
  private final List<BitSet> regions = new ArrayList<>();
  private final BitSet meets = new BitSet();

  /**
   * @param members the instructions that lanes go through together
   * @param varying webs that differ from lane to lane where they come from
   */
  public DivergenceAnalysis(
      FlowGraph graph, BitSet members, Webs webs, Semantics semantics, BitSet varying) {
    this.graph = graph;
    this.members = members;
    this.webs = webs;
    this.semantics = semantics;
    this.varying = (BitSet) varying.clone();
    this.join = new Postdominators(graph, members, semantics).immediate();
    for (int i = 0; i < graph.size(); i++) {
      regions.add(isBranch(i) ? findRegion(i) : new BitSet());
    }
    solve();
  }

  private boolean isBranch(int index) {
    return members.get(index)
        && semantics.kind(index) == Kind.BRANCH
        && graph.nodes().get(index).successors().size() > 1;
  }

  private BitSet findRegion(int branch) {
    BitSet region = new BitSet();
    List<Integer> open = new ArrayList<>(graph.nodes().get(branch).successors());
    while (!open.isEmpty()) {
      int at = open.removeLast();
      if (!members.get(at) || at == join[branch] || region.get(at)) {
        continue;
      }
      if (semantics.kind(at) == Kind.CONVERGENCE) {
        meets.set(branch);
        continue;
      }
      region.set(at);
      if (semantics.kind(at) != Kind.LEAVING) {
        open.addAll(graph.nodes().get(at).successors());
      }
    }
    return region;
  }

  private void solve() {
    boolean changed = true;
    while (changed) {
      changed = false;
      for (int i = members.nextSetBit(0); i >= 0; i = members.nextSetBit(i + 1)) {
        changed |= visit(i);
      }
    }
  }

  private boolean visit(int index) {
    boolean changed = false;
    FlowGraph.Node node = graph.nodes().get(index);
    IntPredicate uniform = slot -> isUniformBefore(index, slot);
    for (int slot = node.writes().nextSetBit(0);
        slot >= 0;
        slot = node.writes().nextSetBit(slot + 1)) {
      int web = webs.after(index, slot);
      boolean same = !apart.get(index) && semantics.writesUniform(index, slot, uniform);
      if (!same && !varying.get(web)) {
        varying.set(web);
        changed = true;
      }
    }
    if (semantics.kind(index) != Kind.CONVERGENCE && writesVarying(index)) {
      for (int slot : node.writes().stream().toArray()) {
        int web = webs.after(index, slot);
        changed |= !varying.get(web);
        varying.set(web);
      }
    }
    if (isBranch(index) && !readsUniform(index) && !meets.get(index)) {
      int known = apart.cardinality();
      apart.or(regions.get(index));
      changed |= apart.cardinality() != known;
    }
    return changed;
  }

  private boolean isUniformBefore(int index, int slot) {
    int web = webs.before(index, slot);
    return web >= 0 && !varying.get(web);
  }

  private boolean readsUniform(int index) {
    return graph.nodes().get(index).reads().stream().allMatch(slot -> isUniformBefore(index, slot));
  }

  /** True when lanes may have different values of the web. */
  public boolean isVarying(int web) {
    return varying.get(web);
  }

  /** True when the instruction is executed once for all lanes that are there. */
  public boolean isOnce(int index) {
    return !apart.get(index)
        && readsUniform(index)
        && semantics.onceForAll(index)
        && !writesVarying(index);
  }

  private boolean writesVarying(int index) {
    return graph.nodes().get(index).writes().stream()
        .anyMatch(slot -> varying.get(webs.after(index, slot)));
  }

  /** Returns how the lanes go through a branch that they reach together. */
  public Way way(int branch) {
    if (!isBranch(branch)) {
      return Way.TOGETHER;
    }
    if (!readsUniform(branch)) {
      return meets.get(branch) ? Way.IN_AGREEMENT : Way.APART;
    }
    return isAbsorbed(branch) ? Way.APART : Way.TOGETHER;
  }

  /** A short region that writes nothing in common is not worth a loop over the lanes of its own. */
  private boolean isAbsorbed(int branch) {
    BitSet region = regions.get(branch);
    return join[branch] != NO_JOIN
        && !meets.get(branch)
        && !region.isEmpty()
        && region.cardinality() <= MOST_ABSORBED
        && region.nextSetBit(0) > branch
        && region.stream()
            .allMatch(
                i ->
                    semantics.kind(i) != Kind.LEAVING
                        && graph.nodes().get(i).writes().stream()
                            .allMatch(slot -> varying.get(webs.after(i, slot))));
  }

  /** The instructions that lanes go through one after the other behind a branch. */
  public BitSet region(int branch) {
    return regions.get(branch);
  }

  /** Returns where they meet again, or -1 when each leaves by itself. */
  public int join(int branch) {
    return join[branch];
  }

  /**
   * Returns where all ways from an instruction come together again. Ways end where lanes meet
   * anyhow. One that leads to no meeting is no way where others do: whoever takes it goes on by
   * itself.
   */
  static final class Postdominators {
    private final int size;
    private final int[] index;
    private final List<int[]> successors = new ArrayList<>();
    private final int graphSize;

    Postdominators(FlowGraph graph, BitSet members, DivergenceAnalysis.Semantics semantics) {
      this.graphSize = graph.size();
      this.index = members.stream().toArray();
      this.size = index.length;
      int[] position = new int[graph.size()];
      Arrays.fill(position, -1);
      for (int p = 0; p < size; p++) {
        position[index[p]] = p;
      }
      BitSet meetings = new BitSet();
      for (int p = 0; p < size; p++) {
        boolean meets = semantics.kind(index[p]) == DivergenceAnalysis.Kind.CONVERGENCE;
        meetings.set(p, meets);
        successors.add(
            meets
                ? new int[0]
                : graph.nodes().get(index[p]).successors().stream()
                    .mapToInt(to -> position[to])
                    .filter(to -> to >= 0)
                    .toArray());
      }
      BitSet meeting = leadingTo(meetings);
      for (int p = 0; p < size; p++) {
        int[] next = successors.get(p);
        if (meeting.get(p)) {
          next = Arrays.stream(next).filter(meeting::get).toArray();
        }
        successors.set(p, next.length == 0 ? new int[] {size} : next);
      }
      endLoops();
    }

    /** Loops without an end get one behind their last instruction. */
    private void endLoops() {
      while (true) {
        BitSet end = new BitSet();
        end.set(size);
        BitSet ending = leadingTo(end);
        int endless = ending.previousClearBit(size - 1);
        if (endless < 0) {
          return;
        }
        int[] next = successors.get(endless);
        int[] more = Arrays.copyOf(next, next.length + 1);
        more[next.length] = size;
        successors.set(endless, more);
      }
    }

    /** Returns what has a way to one of {@code targets}, and these. */
    private BitSet leadingTo(BitSet targets) {
      BitSet leading = (BitSet) targets.clone();
      boolean changed = true;
      while (changed) {
        changed = false;
        for (int p = size - 1; p >= 0; p--) {
          if (!leading.get(p) && Arrays.stream(successors.get(p)).anyMatch(leading::get)) {
            leading.set(p);
            changed = true;
          }
        }
      }
      return leading;
    }

    /** The nearest one of each instruction; -1 where there is none. */
    int[] immediate() {
      List<BitSet> after = new ArrayList<>();
      for (int p = 0; p <= size; p++) {
        BitSet all = new BitSet(size + 1);
        all.set(p == size ? size : 0, size + 1);
        after.add(all);
      }
      boolean changed = true;
      while (changed) {
        changed = false;
        for (int p = size - 1; p >= 0; p--) {
          BitSet common = new BitSet(size + 1);
          common.set(0, size + 1);
          for (int to : successors.get(p)) {
            common.and(after.get(to));
          }
          common.set(p);
          if (!common.equals(after.get(p))) {
            after.set(p, common);
            changed = true;
          }
        }
      }
      int[] nearest = new int[graphSize];
      Arrays.fill(nearest, -1);
      for (int p = 0; p < size; p++) {
        int depth = after.get(p).cardinality();
        for (int q = after.get(p).nextSetBit(0);
            q >= 0 && q < size;
            q = after.get(p).nextSetBit(q + 1)) {
          if (q != p && after.get(q).cardinality() == depth - 1) {
            nearest[index[p]] = index[q];
          }
        }
      }
      return nearest;
    }
  }
}
