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
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.nodes.Node;

/** Turns the YAML tree of a topology into a {@link Topology}, or into a list of problems. */
final class TopologyReader {
  private static final double CLOCK = 10;
  private static final int MOST_RANKS = 1024;

  /** Results of a topology are kept in files of its name. */
  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._+-]{0,63}");

  private final ConstantRecorder recorder;
  private final Section root;
  private final Set<String> ends = new LinkedHashSet<>();
  private final Map<String, Link> links = new LinkedHashMap<>();
  private final Set<String> usedLinks = new LinkedHashSet<>();
  private final List<Path> paths = new ArrayList<>();

  TopologyReader(ConstantRecorder recorder, Node node) {
    this.recorder = recorder;
    this.root = new Section(recorder, "", node, null);
  }

  /**
   * Contents of a file.
   *
   * @param standing whose published measurements it stands for
   */
  record Read(Topology topology, MachineStands standing) {}

  /** The topology; null if the recorder has problems. */
  @Nullable Read read() {
    String name = root.text("name");
    if (!name.isEmpty() && !NAME.matcher(name).matches()) {
      recorder.problem(
          root.at("name"),
          "DB-T016",
          "'%s' is no name: letters, digits, '.', '_', '+' and '-', up to 64".formatted(name));
    }
    String description = root.text("description");
    List<GpuPrices> gpus = new ArrayList<>();
    List<CpuPrices> cpus = new ArrayList<>();
    List<NicPrices> nics = new ArrayList<>();
    for (Node node : root.has("gpus") ? root.list("gpus") : List.<Node>of()) {
      gpus.add(gpu(root.element(node, component("gpu", gpus.size()))));
    }
    for (Node node : root.list("cpus")) {
      cpus.add(whole(CpuPrices.class, root.element(node, component("cpu", cpus.size()))));
    }
    for (Node node : root.list("nics")) {
      nics.add(whole(NicPrices.class, root.element(node, component("nic", nics.size()))));
    }
    if (root.has("bridges")) {
      for (String bridge : root.words("bridges")) {
        if (!ends.add(bridge)) {
          recorder.problem(
              root.at("bridges"),
              "DB-T003",
              "there are two components or bridges '%s'".formatted(bridge));
        }
      }
    }
    List<Node> linkNodes = root.list("links");
    for (Node node : linkNodes) {
      link(node);
    }
    for (Node node : root.list("paths")) {
      path(node);
    }
    boolean alone = gpus.isEmpty() && !root.has("network");
    Network network = alone ? Network.NONE : network(root.section("network"));
    Nvlink nvlink = root.has("nvlink") ? nvlink(root.section("nvlink")) : null;
    List<String> rows = root.has("rows") ? root.words("rows") : List.of();
    String leftOut = root.has("left_out") ? root.text("left_out") : "";
    // What a calibration measured stands beside what came of it, for readers.
    List.of("measured_on", "basis", "measurements").forEach(root::has);
    root.end();
    if (recorder.count() == 0) {
      requireUse(linkNodes);
      requirePaths(gpus.size(), nics.size());
    }
    if (recorder.count() > 0) {
      return null;
    }
    Topology topology =
        new Topology(
            name,
            description,
            gpus,
            cpus,
            nics,
            List.copyOf(links.values()),
            paths,
            network,
            nvlink,
            recorder.constants());
    return new Read(topology, new MachineStands(rows, leftOut));
  }

  private String component(String part, int index) {
    String name = part + index;
    ends.add(name);
    return name;
  }

  private static double nanos(Section from, String key) {
    return from.number(key, 0, Price.NANOS);
  }

  private static GpuPrices gpu(Section gpu) {
    GpuPrices prices = prices(GpuPrices.class, gpu, Map.of());
    // The clock at which these are the prices: SmClock finds it among the constants.
    if (gpu.has("clock_ghz")) {
      gpu.number("clock_ghz", 0.1, CLOCK);
    }
    gpu.end();
    return prices;
  }

  private static <R extends Record> R whole(Class<R> type, Section from) {
    R prices = prices(type, from, Map.of());
    from.end();
    return prices;
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
    Price price =
        component.isAnnotationPresent(Price.class)
            ? component.getAnnotation(Price.class)
            : Prices.PLAIN;
    if (type.isRecord()) {
      Class<? extends Record> nested = type.asSubclass(Record.class);
      if (key.isEmpty()) {
        return prices(nested, from, read);
      }
      return from.has(key) ? whole(nested, from.section(key)) : Prices.of(nested, Map.of());
    }
    if (type == boolean.class) {
      return from.flag(key, price.standard() != 0);
    }
    if (!from.has(key)) {
      if (!price.like().isEmpty()) {
        return Objects.requireNonNull(read.get(price.like()));
      }
      if (!Double.isNaN(price.standard())) {
        return Prices.cast(type, price.standard());
      }
    }
    if (price.power()) {
      return from.powerOfTwo(key, (int) price.least(), (int) price.most(), price.orNone());
    }
    return type == int.class
        ? from.integer(key, (int) price.least(), (int) price.most())
        : Prices.cast(type, from.number(key, price.least(), price.most()));
  }

  private static Network network(Section network) {
    return network.end(
        new Network(
            nanos(network, "latency_ns"),
            network.number("rate_gb_s", 0.001, Price.RATE),
            network.integer("packet_overhead_bytes", 0, Price.LARGEST_PAYLOAD),
            network.flag("infiniband", false)
                ? Network.Framing.INFINIBAND
                : Network.Framing.ETHERNET));
  }

  private static Nvlink nvlink(Section nvlink) {
    return nvlink.end(
        new Nvlink(
            nvlink.integer("ranks", 2, MOST_RANKS),
            nanos(nvlink, "latency_ns"),
            nvlink.number("rate_gb_s", 0.001, Price.RATE),
            nvlink.powerOfTwo("max_payload_bytes", 64, Price.LARGEST_PAYLOAD, false),
            nvlink.has("request_bytes")
                ? nvlink.integer("request_bytes", 0, Price.LARGEST_PAYLOAD)
                : 0,
            nvlink.flag("reduces", false)));
  }

  private void link(Node node) {
    Section section = root.element(node, "link");
    String name = section.text("name");
    Section link = root.element(node, name.isEmpty() ? "link" : name);
    link.has("name");
    List<String> both = link.words("ends");
    if (both.size() != 2 || both.getFirst().equals(both.getLast())) {
      recorder.problem(link.at("ends"), "DB-T010", "a link has two different ends");
      both = List.of("", "");
    } else {
      both.forEach(end -> requireEnd(link.at("ends"), end));
    }
    Link read = link.has("rate_gb_s") ? interconnect(link, name, both) : pcie(link, name, both);
    link.end();
    if (links.putIfAbsent(name, read) != null) {
      recorder.problem(link.at("name"), "DB-T003", "there are two links '%s'".formatted(name));
    }
  }

  private static Link interconnect(Section link, String name, List<String> ends) {
    double rate = link.number("rate_gb_s", 0.001, Price.RATE);
    return new Link(
        name,
        ends.getFirst(),
        ends.getLast(),
        0,
        0,
        rate,
        Price.LARGEST_PAYLOAD,
        true,
        false,
        1,
        null);
  }

  private static Link pcie(Section link, String name, List<String> ends) {
    int generation = link.integer("generation", 1, 6);
    int lanes = link.powerOfTwo("lanes", 1, 32, false);
    int payload = link.powerOfTwo("max_payload_bytes", 128, Price.LARGEST_PAYLOAD, false);
    double efficiency = link.number("efficiency", 0.5, 1);
    boolean wide = link.oneOf("address_bits", List.of(64, 32), 64) == 64;
    boolean ecrc = link.flag("ecrc", false);
    Credits credits = null;
    if (link.has("posted_credits")) {
      Section given = link.section("posted_credits");
      credits =
          given.end(
              new Credits(
                  given.integer("headers", 1, 1 << 16),
                  given.integer("data", 1, 1 << 20),
                  given.number("return_ns", 1, Price.NANOS)));
    }
    return new Link(
        name,
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

  private void requireEnd(Node at, String end) {
    if (!ends.contains(end)) {
      recorder.problem(
          at,
          "DB-T010",
          "'%s' is neither a component nor one of the bridges%s"
              .formatted(end, Nearest.suggestion(end, ends)));
    }
  }

  private void path(Node node) {
    Section unnamed = root.element(node, "path");
    List<String> between = unnamed.words("between");
    if (between.size() != 2 || between.getFirst().equals(between.getLast())) {
      recorder.problem(unnamed.at("between"), "DB-T011", "a path lies between two components");
      return;
    }
    String from = between.getFirst();
    String to = between.getLast();
    Section path = root.element(node, from + "-" + to);
    path.has("between");
    between.forEach(end -> requireEnd(path.at("between"), end));
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
            path.number("jitter_ns", 0, Price.NANOS, 0));
    path.end();
    for (Path other : paths) {
      if (Set.of(other.from(), other.to()).equals(Set.of(from, to))) {
        recorder.problem(
            path.at("between"),
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
    Node last = path.node();
    for (Node node : path.list("hops")) {
      Section hop = path.element(node, path.name() + ".hop" + (hops.size() + 1));
      String name = hop.text("link");
      double nanos = nanos(hop, "ns");
      hop.end();
      last = hop.at("link");
      if (name.isEmpty() || at.isEmpty()) {
        return hops; // which has been said where the name is missing
      }
      Link link = links.get(name);
      if (link == null) {
        recorder.problem(
            last,
            "DB-T012",
            "there is no link '%s'%s".formatted(name, Nearest.suggestion(name, links.keySet())));
        return hops;
      }
      if (!link.from().equals(at) && !link.to().equals(at)) {
        recorder.problem(
            last,
            "DB-T012",
            "the path is at %s here, and link '%s' joins %s and %s: nothing gets across"
                .formatted(at, name, link.from(), link.to()));
        return hops;
      }
      at = link.from().equals(at) ? link.to() : link.from();
      usedLinks.add(name);
      hops.add(new Hop(name, nanos));
    }
    if (!at.equals(to) && !to.isEmpty()) {
      recorder.problem(
          last, "DB-T012", "the path ends at %s and should reach %s".formatted(at, to));
    }
    return hops;
  }

  private double slowest(List<Hop> hops) {
    double slowest = Double.MAX_VALUE;
    for (Hop hop : hops) {
      Link link = links.get(hop.link());
      if (link != null) {
        slowest = Math.min(slowest, link.bytesPerNano());
      }
    }
    return slowest;
  }

  private double cap(Section path, String key, double slowest) {
    double cap = path.number(key, 0, Price.RATE, 0);
    if (cap > slowest) {
      recorder.problem(
          path.at(key),
          "DB-T013",
          "'%s' is more than the path's slowest link carries (%.3f GB/s): it caps nothing"
              .formatted(key, slowest));
    }
    return cap;
  }

  private void requireUse(List<Node> nodes) {
    int index = 0;
    for (String name : links.keySet()) {
      if (!usedLinks.contains(name)) {
        recorder.problem(nodes.get(index), "DB-T014", "no path uses link '%s'".formatted(name));
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
    recorder.problem(
        root.at("paths"),
        "DB-T011",
        "no path between %s and %s: nothing %s".formatted(from, to, purpose));
  }
}
