package dev.doorbell.ptxjit.flow;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.function.IntPredicate;

/**
 * Which slots of a region may differ from the register file: written since they were last saved.
 * Only those have to be saved on a way out, and most of what is alive there is not among them.
 */
public final class DirtyRegisters {
  private final FlowGraph graph;
  private final BitSet members;
  private final IntPredicate inFile;
  private final List<BitSet> before = new ArrayList<>();

  /**
   * @param members the region
   * @param inFile true for an instruction that works on the register file: what it reads is saved
   *     for it, and what it writes is there
   */
  public DirtyRegisters(FlowGraph graph, BitSet members, IntPredicate inFile) {
    this.graph = graph;
    this.members = members;
    this.inFile = inFile;
    for (int i = 0; i < graph.size(); i++) {
      before.add(new BitSet());
    }
    solve();
  }

  private void solve() {
    BitSet open = (BitSet) members.clone();
    for (int i = open.nextSetBit(0); i >= 0; i = open.nextSetBit(0)) {
      open.clear(i);
      BitSet after = after(i);
      for (int to : graph.nodes().get(i).successors()) {
        if (members.get(to)) {
          BitSet there = before.get(to);
          int known = there.cardinality();
          there.or(after);
          if (there.cardinality() != known) {
            open.set(to);
          }
        }
      }
    }
  }

  /** What may be unsaved before an instruction of the region. */
  public BitSet before(int index) {
    return before.get(index);
  }

  /** What may be unsaved after it, where control stays in the region or leaves it by a jump. */
  private BitSet after(int index) {
    FlowGraph.Node node = graph.nodes().get(index);
    BitSet after = (BitSet) before.get(index).clone();
    if (node.diverts()) {
      // Everything alive was saved, unless a predicate jumped over it all.
      if (node.always()) {
        after.clear();
      }
    } else if (inFile.test(index)) {
      if (node.always()) {
        after.andNot(node.reads());
        after.andNot(node.writes());
      }
    } else {
      after.or(node.writes());
    }
    return after;
  }

  /** What may be unsaved where the region is left for {@code target}. */
  public BitSet leavingFor(int target) {
    BitSet unsaved = new BitSet();
    for (int i = members.nextSetBit(0); i >= 0; i = members.nextSetBit(i + 1)) {
      if (graph.nodes().get(i).successors().contains(target)) {
        unsaved.or(after(i));
      }
    }
    return unsaved;
  }
}
