package dev.doorbell.core.fabric.timed;

import dev.doorbell.core.fabric.timed.link.Links.LinkTraffic;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Counters of a timed fabric. Counters only grow; a measurement is the difference of two.
 *
 * @param nanos when they were read, in virtual time
 * @param links traffic of every link direction that was ever used
 * @param fences fences that threads executed
 * @param drainedNanos nanoseconds that threads waited in them
 */
public record FabricCounters(
    double nanos, List<LinkTraffic> links, long fences, double drainedNanos) {

  public FabricCounters {
    links = List.copyOf(links);
  }

  /** Returns what happened after {@code earlier} was read. */
  public FabricCounters minus(FabricCounters earlier) {
    Map<String, LinkTraffic> before = new HashMap<>();
    for (LinkTraffic traffic : earlier.links) {
      before.put(traffic.link(), traffic);
    }
    List<LinkTraffic> after = new ArrayList<>();
    for (LinkTraffic traffic : links) {
      LinkTraffic base = before.get(traffic.link());
      after.add(base == null ? traffic : traffic.minus(base));
    }
    return new FabricCounters(
        nanos - earlier.nanos, after, fences - earlier.fences, drainedNanos - earlier.drainedNanos);
  }

  /** TLPs over all link directions. */
  public long tlps() {
    return links.stream().mapToLong(LinkTraffic::tlps).sum();
  }

  /** Bytes on the wire over all link directions. */
  public long wireBytes() {
    return links.stream().mapToLong(LinkTraffic::wireBytes).sum();
  }

  /** Bytes of payload times links that each crossed. */
  public long payloadCrossings() {
    return links.stream().mapToLong(LinkTraffic::payloadBytes).sum();
  }
}
