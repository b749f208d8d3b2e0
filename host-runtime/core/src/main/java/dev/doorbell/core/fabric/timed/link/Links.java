package dev.doorbell.core.fabric.timed.link;

import dev.doorbell.core.fabric.timed.event.EventQueue;
import dev.doorbell.core.fabric.timed.event.Picos;
import dev.doorbell.core.fabric.timed.machine.Link;
import dev.doorbell.core.fabric.timed.machine.Nvlink;
import dev.doorbell.core.fabric.timed.machine.Path;
import dev.doorbell.core.fabric.timed.machine.Path.Hop;
import dev.doorbell.core.fabric.timed.machine.Topology;
import dev.doorbell.core.memory.Locus;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;

/** The links of a node of a topology, and the routes over them, made when first used. */
public final class Links {
  private final Topology topology;
  private final EventQueue queue;
  private final SplittableRandom random;
  private final Map<String, LinkDirection> directions = new LinkedHashMap<>();
  private final Map<List<Locus>, Route> routes = new HashMap<>();

  /**
   * Creates links without traffic.
   *
   * @param random of the jitter, where the topology has any
   */
  public Links(Topology topology, EventQueue queue, SplittableRandom random) {
    this.topology = topology;
    this.queue = queue;
    this.random = random;
  }

  /** The route from one component to another: of the same rank, or GPUs that NVLink joins. */
  public Route route(Locus from, Locus to) {
    return routes.computeIfAbsent(List.of(from, to), ends -> makeRoute(from, to));
  }

  private Route makeRoute(Locus from, Locus to) {
    if (from.rank() != to.rank()) {
      return makeRouteOfNode(from, to);
    }
    String start = Topology.component(from);
    Path path = topology.path(start, Topology.component(to));
    boolean forward = path.from().equals(start);
    int hops = path.hops().size();
    LinkDirection[] along = new LinkDirection[hops];
    long[] latencies = new long[hops];
    String at = start;
    for (int i = 0; i < hops; i++) {
      Hop hop = path.hops().get(forward ? i : hops - 1 - i);
      Link link = topology.link(hop.link());
      boolean onward = link.from().equals(at);
      at = onward ? link.to() : link.from();
      along[i] =
          directions.computeIfAbsent(
              from.rank() + link.name() + onward,
              key -> new LinkDirection(link, from.rank(), onward));
      latencies[i] = Picos.of(hop.nanos());
    }
    return new Route(from, from + ">" + to, path, along, latencies, queue, random);
  }

  /** Over NVLink: up the port of one GPU, down that of the other. */
  private Route makeRouteOfNode(Locus from, Locus to) {
    Nvlink nvlink = Objects.requireNonNull(topology.nvlink());
    LinkDirection[] along = {port(from, true), port(to, false)};
    long half = Picos.of(nvlink.nanos() / 2);
    return new Route(
        from, from + ">" + to, nvlink.path(), along, new long[] {half, half}, queue, random);
  }

  private LinkDirection port(Locus of, boolean up) {
    Nvlink nvlink = Objects.requireNonNull(topology.nvlink());
    Link port = nvlink.port();
    return directions.computeIfAbsent(
        of.rank() + port.name() + up,
        key -> new LinkDirection(port, of.rank(), up, nvlink.requestBytes()));
  }

  /** Returns the ways from a GPU to those that have a part of a multicast object. */
  public Multipath multipath(Locus from, List<Locus> members) {
    return new Multipath(
        port(from, true),
        port(from, false),
        members.stream().map(each -> port(each, false)).toArray(LinkDirection[]::new),
        members.stream().map(each -> port(each, true)).toArray(LinkDirection[]::new),
        Picos.of(Objects.requireNonNull(topology.nvlink()).nanos() / 2));
  }

  /** Returns the route over the switch back to a GPU itself, which orders what it multicasts. */
  public Route loop(Locus of) {
    return routes.computeIfAbsent(List.of(of, of), ends -> makeRouteOfNode(of, of));
  }

  /** Returns the traffic of every direction that was used, in the order of first use. */
  public List<LinkTraffic> traffic() {
    return directions.values().stream()
        .map(link -> new LinkTraffic(link.name, link.tlps, link.wireBytes, link.payloadBytes))
        .toList();
  }

  /**
   * The traffic of one direction of one link.
   *
   * @param link rank, link and direction, for example {@code rank0.slot1:nic0>switch0}
   * @param tlps transaction layer packets
   * @param wireBytes their bytes on the wire, framing and headers included
   * @param payloadBytes their payload
   */
  public record LinkTraffic(String link, long tlps, long wireBytes, long payloadBytes) {
    /** Returns the traffic after {@code earlier} was read. */
    public LinkTraffic minus(LinkTraffic earlier) {
      return new LinkTraffic(
          link,
          tlps - earlier.tlps,
          wireBytes - earlier.wireBytes,
          payloadBytes - earlier.payloadBytes);
    }
  }
}
