package dev.doorbell.experiments.doctor;

import dev.doorbell.experiments.doctor.facts.Facts;
import dev.doorbell.experiments.doctor.facts.PciFunction;
import dev.doorbell.experiments.doctor.facts.RdmaDevice;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * The way between each GPU and each HCA, from where the kernel hangs them in its tree.
 *
 * <p>A switch shows up as an upstream port with downstream ports below it, each a bridge. Two
 * functions under one switch share the upstream port and have a downstream port each; with more
 * bridges below the last shared one there is a further switch. Functions that share a root bus
 * alone meet in the host bridge.
 */
public record Topology(List<Way> ways) {
  /**
   * From a GPU to an HCA.
   *
   * @param bridges addresses of the bridges that a TLP would pass if no one sent it up
   * @param redirected whether ACS at one of them sends it to the root complex all the same
   */
  public record Way(
      PciFunction gpu,
      RdmaDevice hca,
      Distance distance,
      List<String> bridges,
      boolean redirected) {
    public Way {
      bridges = List.copyOf(bridges);
    }

    /** The distance that TLPs really go. */
    public Distance travelled() {
      return redirected && distance.compareTo(Distance.PHB) < 0 ? Distance.PHB : distance;
    }
  }

  public Topology {
    ways = List.copyOf(ways);
  }

  static Topology of(Facts facts) {
    List<Way> ways = new ArrayList<>();
    for (PciFunction gpu : facts.gpus()) {
      for (RdmaDevice hca : facts.hcas()) {
        hca.pciAddress()
            .flatMap(facts::function)
            .ifPresent(nic -> ways.add(way(facts, gpu, hca, nic)));
      }
    }
    return new Topology(ways);
  }

  private static Way way(Facts facts, PciFunction gpu, RdmaDevice hca, PciFunction nic) {
    Distance distance = distance(gpu, nic, facts.host().numaNodes());
    List<String> bridges = between(gpu, nic);
    boolean redirected =
        distance.compareTo(Distance.PHB) < 0
            && bridges.stream()
                .flatMap(address -> facts.function(address).stream())
                .anyMatch(bridge -> bridge.config().redirectsPeers());
    return new Way(gpu, hca, distance, bridges, redirected);
  }

  /** Of two functions, by their places in the tree. */
  static Distance distance(PciFunction a, PciFunction b, int numaNodes) {
    if (a.hostBridge().equals(b.hostBridge())) {
      int shared = shared(a, b);
      if (shared == 0) {
        return Distance.PHB;
      }
      int below = Math.max(a.bridges().size(), b.bridges().size()) - shared;
      return below <= 1 ? Distance.PIX : Distance.PXB;
    }
    boolean unknown = a.numaNode() < 0 || b.numaNode() < 0;
    boolean same = numaNodes == 1 || unknown || a.numaNode() == b.numaNode();
    return same ? Distance.NODE : Distance.SYS;
  }

  private static int shared(PciFunction a, PciFunction b) {
    int shared = 0;
    int most = Math.min(a.bridges().size(), b.bridges().size());
    while (shared < most && a.bridges().get(shared).equals(b.bridges().get(shared))) {
      shared++;
    }
    return shared;
  }

  private static List<String> between(PciFunction a, PciFunction b) {
    int shared = a.hostBridge().equals(b.hostBridge()) ? shared(a, b) : 0;
    Set<String> bridges = new HashSet<>(a.bridges().subList(shared, a.bridges().size()));
    bridges.addAll(b.bridges().subList(shared, b.bridges().size()));
    return bridges.stream().sorted().toList();
  }

  /** The ways of one GPU. */
  List<Way> from(PciFunction gpu) {
    return ways.stream().filter(way -> way.gpu().equals(gpu)).toList();
  }

  /** The nearest HCA of one GPU. */
  Optional<Way> nearest(PciFunction gpu) {
    return from(gpu).stream().min((a, b) -> a.distance().compareTo(b.distance()));
  }
}
