package dev.doorbell.ptxvm.compiler;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;

/**
 * Where all ways from an instruction come together again. Ways end where lanes meet anyhow and where
 * each goes on by itself; a way out of the instructions looked at is no way, since whoever takes it
 * comes back at a meeting if at all.
 */
final class Postdominators {
  private final int size;
  private final int[] index;
  private final List<int[]> successors = new ArrayList<>();
  private final int graphSize;

  Postdominators(FlowGraph graph, BitSet members, Convergence.Semantics semantics) {
    this.graphSize = graph.size();
    this.index = members.stream().toArray();
    this.size = index.length;
    int[] position = new int[graph.size()];
    Arrays.fill(position, -1);
    for (int p = 0; p < size; p++) {
      position[index[p]] = p;
    }
    for (int p = 0; p < size; p++) {
      Convergence.Kind kind = semantics.kind(index[p]);
      boolean ends =
          kind == Convergence.Kind.MEETING || kind == Convergence.Kind.LEAVING;
      int[] next =
          ends
              ? new int[0]
              : graph.nodes().get(index[p]).successors().stream()
                  .mapToInt(to -> position[to])
                  .filter(to -> to >= 0)
                  .toArray();
      successors.add(next.length == 0 ? new int[] {size} : next);
    }
    endLoops();
  }

  /** Loops without an end get one behind their last instruction. */
  private void endLoops() {
    while (true) {
      BitSet ending = new BitSet();
      ending.set(size);
      boolean changed = true;
      while (changed) {
        changed = false;
        for (int p = size - 1; p >= 0; p--) {
          if (!ending.get(p) && Arrays.stream(successors.get(p)).anyMatch(ending::get)) {
            ending.set(p);
            changed = true;
          }
        }
      }
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
      for (int q = after.get(p).nextSetBit(0); q >= 0 && q < size; q = after.get(p).nextSetBit(q + 1)) {
        if (q != p && after.get(q).cardinality() == depth - 1) {
          nearest[index[p]] = index[q];
        }
      }
    }
    return nearest;
  }
}
