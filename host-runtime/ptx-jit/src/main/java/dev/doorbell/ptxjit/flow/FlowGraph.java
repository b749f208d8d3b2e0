package dev.doorbell.ptxjit.flow;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;

/**
 * A function, instruction by instruction, as the compiler plans it.
 *
 * @param nodes its instructions in order
 */
public record FlowGraph(List<Node> nodes) {
  /**
   * An instruction.
   *
   * @param successors indices where control may go on, ascending
   * @param reads slots that it reads
   * @param writes slots that it writes
   * @param always true when it writes whenever it executes: false behind a predicate
   * @param diverts true when control may leave the method here and come back at the next one
   * @param bytes about how many bytes of bytecode it needs
   * @param count how often it was executed so far, 0 when unknown
   */
  public record Node(
      List<Integer> successors,
      BitSet reads,
      BitSet writes,
      boolean always,
      boolean diverts,
      int bytes,
      int count) {}

  public int size() {
    return nodes.size();
  }

  /** The slots alive before each instruction: read later, and not written before that. */
  public List<BitSet> liveIn() {
    int size = size();
    List<BitSet> live = new ArrayList<>(size);
    List<List<Integer>> predecessors = new ArrayList<>(size);
    for (int i = 0; i < size; i++) {
      live.add(new BitSet());
      predecessors.add(new ArrayList<>());
    }
    for (int i = 0; i < size; i++) {
      for (int successor : nodes.get(i).successors()) {
        predecessors.get(successor).add(i);
      }
    }
    BitSet open = new BitSet(size);
    open.set(0, size);
    for (int i = open.length() - 1; i >= 0; i = open.length() - 1) {
      open.clear(i);
      Node node = nodes.get(i);
      BitSet before = new BitSet();
      for (int successor : node.successors()) {
        before.or(live.get(successor));
      }
      if (node.always()) {
        before.andNot(node.writes());
      }
      before.or(node.reads());
      if (!before.equals(live.get(i))) {
        live.set(i, before);
        predecessors.get(i).forEach(open::set);
      }
    }
    return live;
  }
}
