package dev.doorbell.core.fabric.timed.link;

import dev.doorbell.core.fabric.timed.event.EventQueue;
import dev.doorbell.core.fabric.timed.event.Picos;
import dev.doorbell.core.fabric.timed.machine.Hop;
import dev.doorbell.core.fabric.timed.machine.Link;
import dev.doorbell.core.fabric.timed.machine.Nvlink;
import dev.doorbell.core.fabric.timed.machine.Path;
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
  private final Map<Route, Completer> completers = new HashMap<>();

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

  /** Whether one component addresses memory of another: of the same rank, or over NVLink. */
  public boolean joins(Locus from, Locus to) {
    return from.rank() == to.rank()
        || (topology.reaches(from.rank(), to.rank())
            && from.equals(Locus.gpu(from.rank(), 0))
            && to.equals(Locus.gpu(to.rank(), 0)));
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
    return new Route(from, from + ">" + to, path, along, latencies, random);
  }

  /** Over NVLink: up the port of one GPU, down that of the other. */
  private Route makeRouteOfNode(Locus from, Locus to) {
    Nvlink nvlink = Objects.requireNonNull(topology.nvlink());
    Link port = nvlink.port();
    LinkDirection[] along = {
      directions.computeIfAbsent(
          from.rank() + port.name() + true, key -> new LinkDirection(port, from.rank(), true)),
      directions.computeIfAbsent(
          to.rank() + port.name() + false, key -> new LinkDirection(port, to.rank(), false))
    };
    long half = Picos.of(nvlink.nanos() / 2);
    return new Route(from, from + ">" + to, nvlink.path(), along, new long[] {half, half}, random);
  }

  /** Where completions over {@code back} queue. */
  public Completer completer(Route back) {
    return completers.computeIfAbsent(back, key -> new Completer(queue));
  }

  /** What crossed every direction that was used, in the order of first use. */
  public List<LinkTraffic> traffic() {
    return directions.values().stream()
        .map(link -> new LinkTraffic(link.name, link.tlps, link.wireBytes, link.payloadBytes))
        .toList();
  }
}
