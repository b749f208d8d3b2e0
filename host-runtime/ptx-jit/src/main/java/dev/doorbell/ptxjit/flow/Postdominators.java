package dev.doorbell.ptxjit.flow;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;

/**
 * Where all ways from an instruction come together again. Ways end where lanes meet anyhow. One
 * that leads to no meeting is no way where others do: whoever takes it goes on by itself.
 */
final class Postdominators {
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

  /** What has a way to one of {@code targets}, and these. */
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
