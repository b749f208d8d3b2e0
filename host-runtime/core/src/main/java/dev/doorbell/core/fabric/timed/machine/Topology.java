package dev.doorbell.core.fabric.timed.machine;

import dev.doorbell.core.fabric.timed.machine.Path.Hop;
import dev.doorbell.core.memory.Locus;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The shape and the constants of one node, which every rank of a run has, and of the network
 * between the nodes. A component's name is its part and its index in the lists: "gpu0", "nic1".
 *
 * @param name for figures and messages
 * @param description one human-readable line
 * @param gpus the GPUs' prices
 * @param cpus the CPUs' prices; the memory of a rank's host lies at the first one
 * @param nics the HCAs' prices
 * @param links the links of the node
 * @param paths one for every pair of components that talk
 * @param network between the nodes
 * @param nvlink between the GPUs of ranks that share a node, or null where each rank stands alone
 * @param constants every constant with its source
 */
public record Topology(
    String name,
    String description,
    List<GpuPrices> gpus,
    List<CpuPrices> cpus,
    List<NicPrices> nics,
    List<Link> links,
    List<Path> paths,
    Network network,
    @Nullable Nvlink nvlink,
    List<Constant> constants) {

  public Topology {
    gpus = List.copyOf(gpus);
    cpus = List.copyOf(cpus);
    nics = List.copyOf(nics);
    links = List.copyOf(links);
    paths = List.copyOf(paths);
    constants = List.copyOf(constants);
    for (Path path : paths) {
      Walk.check(path, links);
    }
  }

  /** Returns true if the GPU of one rank addresses the memory of the other's GPU. */
  public boolean reaches(int one, int other) {
    return nvlink != null && one / nvlink.ranks() == other / nvlink.ranks();
  }

  /**
   * Returns true if one component addresses memory of another: of the same rank, or over NVLink.
   */
  public boolean joins(Locus from, Locus to) {
    return from.rank() == to.rank()
        || (reaches(from.rank(), to.rank())
            && from.equals(Locus.gpu(from.rank(), 0))
            && to.equals(Locus.gpu(to.rank(), 0)));
  }

  /**
   * Returns the number of consecutive ranks that address each other's GPU memory: 1 without NVLink.
   */
  public int ranksOfNode() {
    return nvlink == null ? 1 : nvlink.ranks();
  }

  /** Says which topology lets a kernel reach its peers' memory. */
  public String nvlinkAdvice() {
    return "topology '%s' has none, h800-cx7 has".formatted(name);
  }

  /** The name of the component at {@code locus}: its part and index. */
  public static String component(Locus locus) {
    return locus.part().name().toLowerCase(Locale.ROOT) + locus.index();
  }

  /** Returns true if what crosses any path is late by chance. */
  public boolean hasJitter() {
    return paths.stream().anyMatch(path -> path.jitterNanos() > 0);
  }

  /** Returns true if writes find pollers anywhere in their rounds, those of CPUs too. */
  public boolean pollsDrift() {
    return gpus.stream().anyMatch(gpu -> gpu.finer().pollsDrift());
  }

  /** Returns true if a node has {@code component}. */
  public boolean has(Locus.Part part, int index) {
    return switch (part) {
      case CPU -> index < cpus.size();
      case GPU -> index < gpus.size();
      case NIC -> index < nics.size();
    };
  }

  public Link link(String name) {
    for (Link link : links) {
      if (link.name().equals(name)) {
        return link;
      }
    }
    throw new IllegalArgumentException("topology '" + this.name + "' has no link '" + name + "'");
  }

  /** The path that joins two components, in either direction, or null. */
  public @Nullable Path pathBetween(String one, String other) {
    for (Path path : paths) {
      if ((path.from().equals(one) && path.to().equals(other))
          || (path.from().equals(other) && path.to().equals(one))) {
        return path;
      }
    }
    return null;
  }

  /** Does the same as {@link #pathBetween}, where there must be one. */
  public Path path(String one, String other) {
    Path path = pathBetween(one, other);
    if (path == null) {
      throw new IllegalArgumentException(
          "topology '%s' has no path between %s and %s; add one under 'paths'"
              .formatted(name, one, other));
    }
    return path;
  }

  /** The largest payload of a TLP that every link of {@code path} carries. */
  public int maxPayload(Path path) {
    int smallest = Integer.MAX_VALUE;
    for (Hop hop : path.hops()) {
      smallest = Math.min(smallest, link(hop.link()).maxPayload());
    }
    return smallest;
  }

  /** Follows a path's hops from end to end. */
  static final class Walk {
    private Walk() {}

    static void check(Path path, List<Link> links) {
      String at = path.from();
      for (Hop hop : path.hops()) {
        at = next(path, hop, at, links);
      }
      if (!at.equals(path.to())) {
        throw new IllegalArgumentException(
            "the path from %s to %s ends at %s".formatted(path.from(), path.to(), at));
      }
    }

    private static String next(Path path, Hop hop, String at, List<Link> links) {
      for (Link link : links) {
        if (link.name().equals(hop.link())) {
          if (link.from().equals(at)) {
            return link.to();
          }
          if (link.to().equals(at)) {
            return link.from();
          }
          throw new IllegalArgumentException(
              "the path from %s to %s is at %s, where link '%s' (%s to %s) does not begin"
                  .formatted(path.from(), path.to(), at, link.name(), link.from(), link.to()));
        }
      }
      throw new IllegalArgumentException(
          "the path from %s to %s uses link '%s', which there is not"
              .formatted(path.from(), path.to(), hop.link()));
    }
  }

  /**
   * One constant of a topology with its origin: what makes a modelled number checkable.
   *
   * @param key where it stands in the topology, for example {@code gpu0.fence_ns}
   * @param value its value; 1 and 0 for yes and no
   * @param unit of the value: {@code ns}, {@code bytes}, {@code gb_s} (10^9 bytes a second), or
   *     empty
   * @param origin how much it is to be believed
   * @param source where it comes from, in words
   */
  public record Constant(String key, double value, String unit, Origin origin, String source) {

    /** The origin of a constant. */
    public enum Origin {
      /** Measured by this project. */
      MEASURED_HERE("measured here"),
      /** Chosen so that the model gives published measurements, whose rows the source names. */
      FITTED("fitted to"),
      /** Published by those who measured or specified it. */
      CITED("cited"),
      /** Taken to be so; the reader may disagree. */
      ASSUMED("assumed");

      private final String word;

      Origin(String word) {
        this.word = word;
      }

      /** The word that begins a source in a topology file. */
      public String word() {
        return word;
      }
    }
  }
}
