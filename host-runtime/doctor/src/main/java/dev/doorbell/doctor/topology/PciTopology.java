package dev.doorbell.doctor.topology;

import dev.doorbell.doctor.facts.Facts;
import dev.doorbell.doctor.facts.PciFunction;
import dev.doorbell.doctor.facts.RdmaDevice;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * The paths between GPUs and HCAs, derived from the kernel's device tree.
 *
 * <p>A switch shows up as an upstream port with downstream ports below it, each a bridge. Two
 * functions under one switch share the upstream port and have a downstream port each; with more
 * bridges below the last shared one there is a further switch. Functions that share a root bus
 * alone meet in the host bridge.
 */
public record PciTopology(List<Path> paths) {
  /**
   * From a GPU to an HCA.
   *
   * @param bridges addresses of the bridges that a TLP would pass if no one sent it up
   * @param redirected whether ACS at one of them sends it to the root complex all the same
   */
  public record Path(
      PciFunction gpu,
      RdmaDevice hca,
      PciDistance distance,
      List<String> bridges,
      boolean redirected) {
    public Path {
      bridges = List.copyOf(bridges);
    }

    /** The distance that TLPs really go. */
    public PciDistance travelled() {
      return redirected && distance.compareTo(PciDistance.PHB) < 0 ? PciDistance.PHB : distance;
    }
  }

  public PciTopology {
    paths = List.copyOf(paths);
  }

  public static PciTopology of(Facts facts) {
    List<Path> paths = new ArrayList<>();
    for (PciFunction gpu : facts.gpus()) {
      for (RdmaDevice hca : facts.hcas()) {
        hca.pciAddress()
            .flatMap(facts::function)
            .ifPresent(nic -> paths.add(path(facts, gpu, hca, nic)));
      }
    }
    return new PciTopology(paths);
  }

  private static Path path(Facts facts, PciFunction gpu, RdmaDevice hca, PciFunction nic) {
    PciDistance distance = distance(gpu, nic, facts.host().numaNodes());
    List<String> bridges = between(gpu, nic);
    boolean redirected =
        distance.compareTo(PciDistance.PHB) < 0
            && bridges.stream()
                .flatMap(address -> facts.function(address).stream())
                .anyMatch(bridge -> bridge.config().redirectsPeers());
    return new Path(gpu, hca, distance, bridges, redirected);
  }

  /** Returns the distance of two functions, from their positions in the tree. */
  private static PciDistance distance(PciFunction a, PciFunction b, int numaNodes) {
    if (a.hostBridge().equals(b.hostBridge())) {
      return PciDistance.of(a.bridges(), b.bridges(), 1);
    }
    boolean unknown = a.numaNode() < 0 || b.numaNode() < 0;
    boolean same = numaNodes == 1 || unknown || a.numaNode() == b.numaNode();
    return same ? PciDistance.NODE : PciDistance.SYS;
  }

  private static List<String> between(PciFunction a, PciFunction b) {
    int shared =
        a.hostBridge().equals(b.hostBridge()) ? PciDistance.shared(a.bridges(), b.bridges()) : 0;
    Set<String> bridges = new HashSet<>(a.bridges().subList(shared, a.bridges().size()));
    bridges.addAll(b.bridges().subList(shared, b.bridges().size()));
    return bridges.stream().sorted().toList();
  }

  public List<Path> from(PciFunction gpu) {
    return paths.stream().filter(path -> path.gpu().equals(gpu)).toList();
  }

  public Optional<Path> nearest(PciFunction gpu) {
    return from(gpu).stream().min((a, b) -> a.distance().compareTo(b.distance()));
  }
}
