package dev.doorbell.push.network;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;

/**
 * The shortest ways between the switches of a plan. Of several that are equally short, the hash of
 * a flow decides (ECMP): frames of a flow stay in order.
 */
final class EqualCostPaths {
  /** Of each switch and each destination: the numbers of its trunks that lead nearer. */
  private final int[][][] next;

  private final long seed;

  /**
   * @param seed of the hash
   * @param stopped switches that no way goes through
   * @throws IllegalArgumentException when a switch that has hosts cannot be reached from another,
   *     though all switches run
   */
  EqualCostPaths(NetworkPlan plan, long seed, Set<Integer> stopped) {
    this.seed = seed;
    int switches = plan.switches();
    List<List<int[]>> neighbours = new ArrayList<>();
    for (int i = 0; i < switches; i++) {
      neighbours.add(new ArrayList<>());
    }
    for (int trunk = 0; trunk < plan.trunks().size(); trunk++) {
      NetworkPlan.Trunk of = plan.trunks().get(trunk);
      if (stopped.contains(of.one()) || stopped.contains(of.other())) {
        continue;
      }
      neighbours.get(of.one()).add(new int[] {of.other(), trunk});
      neighbours.get(of.other()).add(new int[] {of.one(), trunk});
    }
    next = new int[switches][switches][];
    List<Integer> leaves = plan.leaves().stream().distinct().toList();
    for (int leaf : leaves) {
      int[] distance = distances(leaf, neighbours);
      for (int other : leaves) {
        if (distance[other] < 0 && stopped.isEmpty()) {
          throw new IllegalArgumentException(
              "%s: no way from switch %d to switch %d".formatted(plan.name(), other, leaf));
        }
      }
      for (int at = 0; at < switches; at++) {
        int here = distance[at];
        next[at][leaf] =
            neighbours.get(at).stream()
                .filter(way -> distance[way[0]] >= 0 && distance[way[0]] == here - 1)
                .mapToInt(way -> way[1])
                .toArray();
      }
    }
  }

  private static int[] distances(int from, List<List<int[]>> neighbours) {
    int[] distance = new int[neighbours.size()];
    Arrays.fill(distance, -1);
    distance[from] = 0;
    ArrayDeque<Integer> open = new ArrayDeque<>(List.of(from));
    while (!open.isEmpty()) {
      int at = open.remove();
      for (int[] way : neighbours.get(at)) {
        if (distance[way[0]] < 0) {
          distance[way[0]] = distance[at] + 1;
          open.add(way[0]);
        }
      }
    }
    return distance;
  }

  /** The trunk that a flow takes from one switch towards another, or -1 where there is no way. */
  int trunk(int at, int towards, long flow) {
    int[] ways = next[at][towards];
    if (ways.length == 0) {
      return -1;
    }
    return ways.length == 1
        ? ways[0]
        : ways[Math.floorMod(hash(hash(flow) + hash(seed + at)), ways.length)];
  }

  /** Finalizer of SplitMix64 (Steele et al., OOPSLA 2014). */
  private static long hash(long value) {
    long z = value + 0x9e37_79b9_7f4a_7c15L;
    z = (z ^ (z >>> 30)) * 0xbf58_476d_1ce4_e5b9L;
    z = (z ^ (z >>> 27)) * 0x94d0_49bb_1331_11ebL;
    return z ^ (z >>> 31);
  }
}
