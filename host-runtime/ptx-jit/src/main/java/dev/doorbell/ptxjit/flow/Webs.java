package dev.doorbell.ptxjit.flow;

import java.util.BitSet;
import java.util.List;

/**
 * The values that live in the slots of some instructions: a web is a set of writes that reach
 * common reads. Registers share slots, so one slot may hold what differs from lane to lane in one
 * place and what all lanes have in common in another; webs tell them apart.
 */
public final class Webs {
  private static final int NONE = -1;

  private final FlowGraph graph;
  private final List<BitSet> live;
  private final int[] position;
  private final int slots;
  private final int size;

  /** Union-find over values: before each instruction, and written by each. */
  private final int[] parent;

  private final int[] number;
  private int count;

  /**
   * @param live the slots alive before each instruction of the function
   * @param members the instructions to look at
   */
  public Webs(FlowGraph graph, List<BitSet> live, BitSet members) {
    this.graph = graph;
    this.live = live;
    this.size = members.cardinality();
    this.position = new int[graph.size()];
    int next = 0;
    int highest = 0;
    for (int i = 0; i < graph.size(); i++) {
      position[i] = members.get(i) ? next++ : NONE;
      highest = Math.max(highest, live.get(i).length());
      highest = Math.max(highest, graph.nodes().get(i).writes().length());
    }
    this.slots = highest;
    this.parent = new int[2 * size * slots];
    for (int v = 0; v < parent.length; v++) {
      parent[v] = v;
    }
    this.number = new int[parent.length];
    members.stream().forEach(this::join);
    members.stream().forEach(this::enumerate);
  }

  private int incoming(int index, int slot) {
    return position[index] * slots + slot;
  }

  private int written(int index, int slot) {
    return (size + position[index]) * slots + slot;
  }

  private void join(int index) {
    FlowGraph.Node node = graph.nodes().get(index);
    if (!node.always()) {
      node.writes().stream()
          .filter(live.get(index)::get)
          .forEach(slot -> union(written(index, slot), incoming(index, slot)));
    }
    for (int to : node.successors()) {
      if (position[to] != NONE) {
        live.get(to).stream()
            .forEach(
                slot -> {
                  boolean writes = node.writes().get(slot);
                  union(incoming(to, slot), writes ? written(index, slot) : incoming(index, slot));
                });
      }
    }
  }

  private void enumerate(int index) {
    live.get(index).stream().forEach(slot -> enumerateValue(incoming(index, slot)));
    graph.nodes().get(index).writes().stream()
        .forEach(slot -> enumerateValue(written(index, slot)));
  }

  private void enumerateValue(int value) {
    int root = find(value);
    if (number[root] == 0) {
      number[root] = ++count;
    }
  }

  private int find(int value) {
    int root = value;
    while (parent[root] != root) {
      root = parent[root];
    }
    int at = value;
    while (parent[at] != root) {
      int next = parent[at];
      parent[at] = root;
      at = next;
    }
    return root;
  }

  private void union(int one, int two) {
    parent[find(one)] = find(two);
  }

  /** True for an instruction that was looked at. */
  public boolean has(int index) {
    return position[index] != NONE;
  }

  public int count() {
    return count;
  }

  /** The web of what a slot holds before an instruction, where it is alive. */
  public int before(int index, int slot) {
    return number[find(incoming(index, slot))] - 1;
  }

  /** The web of what a slot holds behind an instruction: what it wrote, or what was there. */
  public int after(int index, int slot) {
    boolean writes = graph.nodes().get(index).writes().get(slot);
    return number[find(writes ? written(index, slot) : incoming(index, slot))] - 1;
  }
}
