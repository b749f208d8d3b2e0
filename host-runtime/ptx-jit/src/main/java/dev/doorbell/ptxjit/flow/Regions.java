package dev.doorbell.ptxjit.flow;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.List;

/**
 * Cuts a function into regions, each of which becomes one method.
 *
 * <p>HotSpot never compiles a method of more than 8000 bytes. Crossing from one region to another
 * costs a return and a call, with the live registers saved and loaded. So what runs together should
 * lie together: blocks that were seen to run come first, and innermost loops are not torn apart.
 */
public final class Regions {
  private static final int MOST_BLOCK_BYTES = 1500;

  private final FlowGraph graph;
  private final BitSet leaders = new BitSet();
  private final int[] region;
  private final List<BitSet> members = new ArrayList<>();
  private final BitSet entries = new BitSet();

  private Regions(FlowGraph graph) {
    this.graph = graph;
    this.region = new int[graph.size()];
  }

  /**
   * Plans the regions of a function.
   *
   * @param limit about how many bytes a region may have
   */
  public static Regions plan(FlowGraph graph, int limit) {
    Regions regions = new Regions(graph);
    regions.findBlocks();
    regions.pack(limit);
    regions.findEntries();
    return regions;
  }

  /** The instructions of each region. */
  public List<BitSet> members() {
    return members;
  }

  /** Where blocks begin: no jump goes elsewhere. */
  public BitSet leaders() {
    return leaders;
  }

  /** Instructions at which a region may be entered from outside of it. */
  public BitSet entries() {
    return entries;
  }

  private void findBlocks() {
    leaders.set(0);
    int bytes = 0;
    for (int i = 0; i < graph.size(); i++) {
      FlowGraph.Node node = graph.nodes().get(i);
      bytes = leaders.get(i) ? node.bytes() : bytes + node.bytes();
      boolean straight = node.successors().equals(List.of(i + 1));
      if (!straight) {
        node.successors().forEach(leaders::set);
      }
      if (i + 1 < graph.size() && (!straight || node.diverts() || bytes > MOST_BLOCK_BYTES)) {
        leaders.set(i + 1);
        bytes = 0;
      }
    }
  }

  /** Instructions that stay together. */
  private record Unit(int first, BitSet members, int bytes, boolean hot) {}

  private void pack(int limit) {
    List<Unit> units = new ArrayList<>();
    BitSet taken = new BitSet();
    for (BitSet loop : loopsBySize()) {
      int bytes = bytes(loop);
      if (bytes <= limit && !loop.intersects(taken)) {
        taken.or(loop);
        units.add(new Unit(loop.nextSetBit(0), loop, bytes, isHot(loop)));
      }
    }
    for (int i = leaders.nextSetBit(0); i >= 0 && i < graph.size(); i = leaders.nextSetBit(i + 1)) {
      if (!taken.get(i)) {
        BitSet block = block(i);
        units.add(new Unit(i, block, bytes(block), isHot(block)));
      }
    }
    units.sort(Comparator.comparing((Unit unit) -> !unit.hot).thenComparingInt(Unit::first));
    int room = 0;
    boolean hot = false;
    for (Unit unit : units) {
      if (members.isEmpty() || unit.bytes > room || unit.hot != hot) {
        members.add(new BitSet());
        room = limit;
        hot = unit.hot;
      }
      room -= unit.bytes;
      members.getLast().or(unit.members);
    }
    for (int k = 0; k < members.size(); k++) {
      int number = k;
      members.get(k).stream().forEach(i -> region[i] = number);
    }
  }

  private void findEntries() {
    entries.set(0);
    for (int i = 0; i < graph.size(); i++) {
      FlowGraph.Node node = graph.nodes().get(i);
      if (node.diverts() && i + 1 < graph.size()) {
        entries.set(i + 1);
      }
      for (int to : node.successors()) {
        if (to <= i || region[to] != region[i]) {
          entries.set(to);
        }
      }
    }
  }

  private BitSet block(int first) {
    BitSet block = new BitSet();
    int next = leaders.nextSetBit(first + 1);
    block.set(first, next < 0 ? graph.size() : Math.min(next, graph.size()));
    return block;
  }

  private int bytes(BitSet set) {
    return set.stream().map(i -> graph.nodes().get(i).bytes()).sum();
  }

  private boolean isHot(BitSet set) {
    return set.stream().anyMatch(i -> graph.nodes().get(i).count() > 0);
  }

  /** The natural loops of all backward jumps, as whole blocks, largest first. */
  private List<BitSet> loopsBySize() {
    List<List<Integer>> predecessors = new ArrayList<>();
    for (int i = 0; i < graph.size(); i++) {
      predecessors.add(new ArrayList<>());
    }
    for (int i = 0; i < graph.size(); i++) {
      for (int to : graph.nodes().get(i).successors()) {
        predecessors.get(to).add(i);
      }
    }
    boolean profiled = graph.nodes().stream().anyMatch(node -> node.count() > 0);
    List<BitSet> loops = new ArrayList<>();
    for (int i = 0; i < graph.size(); i++) {
      for (int to : graph.nodes().get(i).successors()) {
        if (to <= i) {
          BitSet loop = loop(to, i, predecessors, profiled && graph.nodes().get(i).count() > 0);
          if (!loop.get(0) || to == 0) {
            loops.add(loop);
          }
        }
      }
    }
    loops.sort(Comparator.comparingInt(this::bytes).reversed());
    return loops;
  }

  /** The loop's instructions; without those never seen to run, when the loop itself was. */
  private BitSet loop(int head, int tail, List<List<Integer>> predecessors, boolean hotOnly) {
    BitSet body = new BitSet();
    body.set(head);
    List<Integer> open = new ArrayList<>();
    if (!body.get(tail)) {
      body.set(tail);
      open.add(tail);
    }
    while (!open.isEmpty()) {
      for (int before : predecessors.get(open.removeLast())) {
        boolean cold = hotOnly && graph.nodes().get(before).count() == 0;
        if (!body.get(before) && !cold) {
          body.set(before);
          open.add(before);
        }
      }
    }
    BitSet whole = new BitSet();
    for (int i = body.nextSetBit(0); i >= 0; i = body.nextSetBit(i + 1)) {
      int first = leaders.previousSetBit(i);
      whole.or(block(first));
    }
    return whole;
  }
}
