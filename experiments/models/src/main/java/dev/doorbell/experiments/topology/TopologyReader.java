package dev.doorbell.experiments.topology;

import dev.doorbell.core.fabric.timed.machine.CpuPrices;
import dev.doorbell.core.fabric.timed.machine.GpuPrices;
import dev.doorbell.core.fabric.timed.machine.Link;
import dev.doorbell.core.fabric.timed.machine.Link.Credits;
import dev.doorbell.core.fabric.timed.machine.Network;
import dev.doorbell.core.fabric.timed.machine.NicPrices;
import dev.doorbell.core.fabric.timed.machine.Nvlink;
import dev.doorbell.core.fabric.timed.machine.Path;
import dev.doorbell.core.fabric.timed.machine.Path.Hop;
import dev.doorbell.core.fabric.timed.machine.Price;
import dev.doorbell.core.fabric.timed.machine.Prices;
import dev.doorbell.core.fabric.timed.machine.Topology;
import dev.doorbell.core.problem.Nearest;
import dev.doorbell.experiments.topology.Section.ConstantRecorder;
import dev.doorbell.experiments.topology.TopologyFile.MachineStands;
import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * Turns a topology file that its schema has found valid into a {@link Topology}, or into a list of
 * problems: components, links and paths have to fit together.
 */
final class TopologyReader {
  private final ConstantRecorder recorder;
  private final Section root;
  private final Set<String> ends = new LinkedHashSet<>();
  private final Map<String, Link> links = new LinkedHashMap<>();
  private final Set<String> usedLinks = new LinkedHashSet<>();
  private final List<Path> paths = new ArrayList<>();

  TopologyReader(ConstantRecorder recorder, JsonNode node) {
    this.recorder = recorder;
    this.root = Section.top(recorder, node);
  }

  /**
   * Contents of a file.
   *
   * @param standing whose published measurements it stands for
   */
  record Read(Topology topology, MachineStands standing) {}

  /** The topology; null if the recorder has problems. */
  @Nullable Read read() {
    List<GpuPrices> gpus = components("gpu", GpuPrices.class);
    List<CpuPrices> cpus = components("cpu", CpuPrices.class);
    List<NicPrices> nics = components("nic", NicPrices.class);
    for (String bridge : root.words("bridges")) {
      if (!ends.add(bridge)) {
        root.problem(
            "bridges", "DB-T003", "there are two components or bridges '%s'".formatted(bridge));
      }
    }
    List<Section> linkSections = root.elements("links", (_, node) -> node.path("name").asString());
    linkSections.forEach(this::link);
    root.elements("paths", (_, node) -> String.join("-", between(node))).forEach(this::path);
    Network network = root.has("network") ? network(root.section("network")) : Network.NONE;
    Nvlink nvlink = root.has("nvlink") ? nvlink(root.section("nvlink")) : null;
    if (recorder.problems().isEmpty()) {
      requireUse(linkSections);
      requirePaths(gpus.size(), nics.size());
    }
    if (!recorder.problems().isEmpty()) {
      return null;
    }
    Topology topology =
        new Topology(
            root.text("name"),
            root.text("description"),
            gpus,
            cpus,
            nics,
            List.copyOf(links.values()),
            paths,
            network,
            nvlink,
            recorder.constants());
    return new Read(topology, new MachineStands(root.words("rows"), root.text("left_out")));
  }

  private <R extends Record> List<R> components(String part, Class<R> type) {
    List<R> components = new ArrayList<>();
    for (Section section : root.elements(part + "s", (index, _) -> part + index)) {
      ends.add(section.name());
      components.add(prices(type, section, Map.of()));
      // The clock at which a GPU's are the prices: SmClock finds it among the constants.
      if (type == GpuPrices.class && section.has("clock_ghz")) {
        section.number("clock_ghz");
      }
    }
    return components;
  }

  /**
   * Reads the constants that a record describes.
   *
   * @param owner values of the record that this one is part of, by component
   */
  private static <R extends Record> R prices(
      Class<R> type, Section from, Map<String, Object> owner) {
    Map<String, Object> read = new HashMap<>(owner);
    return Prices.create(
        type,
        component -> {
          Object value = constant(component, from, read);
          read.put(component.getName(), value);
          return value;
        });
  }

  private static Object constant(
      RecordComponent component, Section from, Map<String, Object> read) {
    String key = Prices.key(component);
    Class<?> type = component.getType();
    if (type.isRecord()) {
      Class<? extends Record> nested = type.asSubclass(Record.class);
      if (key.isEmpty()) {
        return prices(nested, from, read);
      }
      return from.has(key)
          ? prices(nested, from.section(key), Map.of())
          : Prices.of(nested, Map.of());
    }
    Price price = component.getAnnotation(Price.class);
    if (price != null && !price.like().isEmpty() && !from.has(key)) {
      return Objects.requireNonNull(read.get(price.like()));
    }
    double standard = price == null ? 0 : price.standard();
    return type == boolean.class
        ? from.flag(key, standard != 0)
        : Prices.cast(type, from.number(key, standard));
  }

  private static Network network(Section network) {
    return new Network(
        network.number("latency_ns"),
        network.number("rate_gb_s"),
        (int) network.number("packet_overhead_bytes"),
        network.flag("infiniband", false) ? Network.Framing.INFINIBAND : Network.Framing.ETHERNET);
  }

  private static Nvlink nvlink(Section nvlink) {
    return new Nvlink(
        (int) nvlink.number("ranks"),
        nvlink.number("latency_ns"),
        nvlink.number("rate_gb_s"),
        (int) nvlink.number("max_payload_bytes"),
        (int) nvlink.number("request_bytes", 0),
        nvlink.flag("reduces", false));
  }

  private void link(Section link) {
    List<String> both = link.words("ends");
    if (both.getFirst().equals(both.getLast())) {
      link.problem("ends", "DB-T010", "a link has two different ends");
    } else {
      both.forEach(end -> requireEnd(link, "ends", end));
    }
    Link read = link.has("rate_gb_s") ? interconnect(link, both) : pcie(link, both);
    if (links.putIfAbsent(read.name(), read) != null) {
      link.problem("name", "DB-T003", "there are two links '%s'".formatted(read.name()));
    }
  }

  private static Link interconnect(Section link, List<String> ends) {
    return new Link(
        link.name(),
        ends.getFirst(),
        ends.getLast(),
        0,
        0,
        link.number("rate_gb_s"),
        Price.LARGEST_PAYLOAD,
        true,
        false,
        1,
        null);
  }

  private static Link pcie(Section link, List<String> ends) {
    int generation = (int) link.number("generation");
    int lanes = (int) link.number("lanes");
    int payload = (int) link.number("max_payload_bytes");
    double efficiency = link.number("efficiency");
    boolean wide = link.number("address_bits", Long.SIZE) == Long.SIZE;
    boolean ecrc = link.flag("ecrc", false);
    Credits credits = null;
    if (link.has("posted_credits")) {
      Section given = link.section("posted_credits");
      credits =
          new Credits(
              (int) given.number("headers"), (int) given.number("data"), given.number("return_ns"));
    }
    return new Link(
        link.name(),
        ends.getFirst(),
        ends.getLast(),
        generation,
        lanes,
        Link.rate(generation, lanes),
        payload,
        wide,
        ecrc,
        efficiency,
        credits);
  }

  private void requireEnd(Section at, String key, String end) {
    if (!ends.contains(end)) {
      at.problem(
          key,
          "DB-T010",
          "'%s' is neither a component nor one of the bridges%s"
              .formatted(end, Nearest.suggestion(end, ends)));
    }
  }

  private static List<String> between(JsonNode path) {
    return path.path("between").valueStream().map(JsonNode::asString).toList();
  }

  private void path(Section path) {
    List<String> between = path.words("between");
    String from = between.getFirst();
    String to = between.getLast();
    if (from.equals(to)) {
      path.problem("between", "DB-T011", "a path lies between two components");
      return;
    }
    between.forEach(end -> requireEnd(path, "between", end));
    List<Hop> hops = hops(path, from, to);
    double link = slowest(hops);
    Path read =
        new Path(
            from,
            to,
            hops.isEmpty() ? List.of(new Hop("", 0)) : hops,
            path.flag("peer_reads", true),
            cap(path, "read_cap_gb_s", link),
            cap(path, "write_cap_gb_s", link),
            cap(path, "strict_write_cap_gb_s", link),
            path.flag("relaxed_ordering", true),
            path.number("jitter_ns", 0));
    for (Path other : paths) {
      if (Set.of(other.from(), other.to()).equals(Set.of(from, to))) {
        path.problem(
            "between",
            "DB-T011",
            "there is a path between %s and %s already; it serves both directions"
                .formatted(from, to));
      }
    }
    paths.add(read);
  }

  private List<Hop> hops(Section path, String from, String to) {
    List<Hop> hops = new ArrayList<>();
    String at = from;
    Section last = path;
    for (Section hop : path.elements("hops", (index, _) -> path.name() + ".hop" + (index + 1))) {
      String name = hop.text("link");
      double nanos = hop.number("ns");
      last = hop;
      Link link = links.get(name);
      if (link == null) {
        hop.problem(
            "link",
            "DB-T012",
            "there is no link '%s'%s".formatted(name, Nearest.suggestion(name, links.keySet())));
        return hops;
      }
      if (!link.from().equals(at) && !link.to().equals(at)) {
        hop.problem(
            "link",
            "DB-T012",
            "the path is at %s here, and link '%s' joins %s and %s: nothing gets across"
                .formatted(at, name, link.from(), link.to()));
        return hops;
      }
      at = link.from().equals(at) ? link.to() : link.from();
      usedLinks.add(name);
      hops.add(new Hop(name, nanos));
    }
    if (!at.equals(to)) {
      last.problem("link", "DB-T012", "the path ends at %s and should reach %s".formatted(at, to));
    }
    return hops;
  }

  private double slowest(List<Hop> hops) {
    return hops.stream()
        .map(hop -> links.get(hop.link()))
        .filter(Objects::nonNull)
        .mapToDouble(Link::bytesPerNano)
        .min()
        .orElse(Double.MAX_VALUE);
  }

  private static double cap(Section path, String key, double slowest) {
    double cap = path.number(key, 0);
    if (cap > slowest) {
      path.problem(
          key,
          "DB-T013",
          "'%s' is more than the path's slowest link carries (%.3f GB/s): it caps nothing"
              .formatted(key, slowest));
    }
    return cap;
  }

  private void requireUse(List<Section> sections) {
    int index = 0;
    for (String name : links.keySet()) {
      if (!usedLinks.contains(name)) {
        sections.get(index).problem("", "DB-T014", "no path uses link '%s'".formatted(name));
      }
      index++;
    }
  }

  private void requirePaths(int gpus, int nics) {
    for (int gpu = 0; gpu < gpus; gpu++) {
      requirePath("gpu" + gpu, "cpu0", "reaches the host's memory");
      for (int nic = 0; nic < nics; nic++) {
        requirePath("gpu" + gpu, "nic" + nic, "carries its doorbells and the HCA's reads");
      }
    }
    for (int nic = 0; nic < nics; nic++) {
      requirePath("nic" + nic, "cpu0", "carries the host's doorbells and the HCA's reads");
    }
  }

  private void requirePath(String from, String to, String purpose) {
    for (Path path : paths) {
      if (Set.of(path.from(), path.to()).equals(Set.of(from, to))) {
        return;
      }
    }
    root.problem(
        "paths", "DB-T011", "no path between %s and %s: nothing %s".formatted(from, to, purpose));
  }
}
