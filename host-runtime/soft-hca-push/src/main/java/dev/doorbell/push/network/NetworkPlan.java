package dev.doorbell.push.network;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;

/**
 * Plan of hosts, switches and the cables between them.
 *
 * @param name for messages
 * @param switches how many there are
 * @param leaves the switch of each host
 * @param trunks cables between switches
 */
public record NetworkPlan(String name, int switches, List<Integer> leaves, List<Trunk> trunks) {
  /** A cable between two switches. */
  public record Trunk(int one, int other) {}

  public NetworkPlan {
    leaves = List.copyOf(leaves);
    trunks = List.copyOf(trunks);
    for (int leaf : leaves) {
      require(leaf, switches, name);
    }
    for (Trunk trunk : trunks) {
      require(trunk.one, switches, name);
      require(trunk.other, switches, name);
    }
  }

  private static void require(int number, int switches, String name) {
    if (number < 0 || number >= switches) {
      throw new IllegalArgumentException("%s: switch %d of %d".formatted(name, number, switches));
    }
  }

  public static NetworkPlan single(int hosts) {
    return new NetworkPlan("switch", 1, Collections.nCopies(hosts, 0), List.of());
  }

  /**
   * Two tiers: {@code perLeaf} consecutive hosts at each leaf, each leaf joined to each spine by
   * one cable.
   */
  public static NetworkPlan leafSpine(int hosts, int perLeaf, int spines) {
    Integer[] leaves = new Integer[hosts];
    Arrays.setAll(leaves, host -> host / perLeaf);
    return twoTiers("leaf-spine", List.of(leaves), Math.ceilDiv(hosts, perLeaf), spines);
  }

  /**
   * Rail-optimised: of nodes with {@code rails} hosts each, the hosts with the same place in their
   * node share a leaf, and spines join the rails.
   */
  public static NetworkPlan rails(int hosts, int rails, int spines) {
    Integer[] leaves = new Integer[hosts];
    Arrays.setAll(leaves, host -> host % rails);
    return twoTiers("rails", List.of(leaves), Math.min(hosts, rails), spines);
  }

  private static NetworkPlan twoTiers(String name, List<Integer> hosts, int leaves, int spines) {
    List<Trunk> trunks = new ArrayList<>();
    for (int leaf = 0; leaf < leaves; leaf++) {
      for (int spine = 0; spine < spines; spine++) {
        trunks.add(new Trunk(leaf, leaves + spine));
      }
    }
    return new NetworkPlan(name, leaves + spines, hosts, trunks);
  }

  /**
   * A fat tree of switches with {@code ports} ports (Al-Fares et al., "A scalable, commodity data
   * center network architecture", SIGCOMM 2008): pods of ports/2 edge and ports/2 aggregation
   * switches, (ports/2)^2 core switches, room for ports^3/4 hosts. Pods without hosts are left out.
   *
   * @throws IllegalArgumentException when {@code ports} is odd, or there are more hosts than room
   */
  public static NetworkPlan fatTree(int hosts, int ports) {
    int half = ports / 2;
    int room = ports * half * half;
    if (ports < 2 || ports % 2 != 0 || hosts > room) {
      throw new IllegalArgumentException(
          "a fat tree of switches with %d ports has room for %d hosts, not for %d; ports are even"
              .formatted(ports, ports % 2 == 0 ? room : 0, hosts));
    }
    int pods = Math.ceilDiv(hosts, half * half);
    int edges = pods * half;
    List<Trunk> trunks = new ArrayList<>();
    for (int pod = 0; pod < pods; pod++) {
      for (int aggregation = 0; aggregation < half; aggregation++) {
        int above = edges + pod * half + aggregation;
        for (int edge = 0; edge < half; edge++) {
          trunks.add(new Trunk(pod * half + edge, above));
        }
        for (int core = 0; core < half; core++) {
          trunks.add(new Trunk(above, 2 * edges + aggregation * half + core));
        }
      }
    }
    Integer[] leaves = new Integer[hosts];
    Arrays.setAll(leaves, host -> host / half);
    return new NetworkPlan("fat-tree", 2 * edges + half * half, List.of(leaves), trunks);
  }
}
