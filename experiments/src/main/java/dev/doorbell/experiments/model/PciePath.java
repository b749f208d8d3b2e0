package dev.doorbell.experiments.model;

import dev.doorbell.core.fabric.timed.machine.Link;
import dev.doorbell.core.fabric.timed.machine.Link.Credits;
import dev.doorbell.core.fabric.timed.machine.Path;
import dev.doorbell.core.fabric.timed.machine.Path.Hop;
import dev.doorbell.core.fabric.timed.machine.Tlp;
import dev.doorbell.core.fabric.timed.machine.Topology;
import java.util.ArrayList;
import java.util.List;

/**
 * Transfers over one path: how long they occupy it, and how many bytes a nanosecond it can carry.
 * Times in nanoseconds, transfers aligned; latencies are not in them.
 */
final class PciePath {
  private final Path path;
  private final List<Link> links = new ArrayList<>();
  private final int maxPayload;

  PciePath(Topology topology, String from, String to) {
    this.path = topology.path(from, to);
    for (Hop hop : path.hops()) {
      links.add(topology.link(hop.link()));
    }
    this.maxPayload = topology.maxPayload(path);
  }

  /** One-way latency L. */
  double latency() {
    return path.nanos();
  }

  boolean peerReads() {
    return path.peerReads();
  }

  /** The payload of a completion: as the completer cuts, and no larger than any link carries. */
  int completion(int completionBytes) {
    return completionBytes == 0 ? maxPayload : Math.min(maxPayload, completionBytes);
  }

  /** S_w: posted writes of {@code granule} bytes each. */
  double writes(long bytes, int granule) {
    double slowest = 0;
    int count = Tlp.writes(0, bytes, Math.min(granule, maxPayload));
    for (Link link : links) {
      slowest = Math.max(slowest, (bytes + (double) count * link.writeOverhead()) / link.tlpRate());
    }
    return slowest;
  }

  /** {@link #writes} of payload, with the path's cap. */
  double payloadWrites(long bytes, int granule) {
    double cap = path.writeCap();
    return Math.max(writes(bytes, granule), cap == 0 ? 0 : bytes / cap);
  }

  /** S_c: completions of {@code cut} bytes. */
  double completions(long bytes, int maxReadRequest, int cut) {
    double slowest = 0;
    int count = Tlp.completions(0, bytes, maxReadRequest, cut);
    for (Link link : links) {
      slowest =
          Math.max(slowest, (bytes + (double) count * link.completionOverhead()) / link.tlpRate());
    }
    return slowest;
  }

  /** {@link #completions} of payload, with the path's cap. */
  double payloadCompletions(long bytes, int maxReadRequest, int cut) {
    double cap = path.readCap();
    return Math.max(completions(bytes, maxReadRequest, cut), cap == 0 ? 0 : bytes / cap);
  }

  /** The requests' time on the links, which reads share with whatever else goes that way. */
  double requests(long bytes, int maxReadRequest) {
    double slowest = 0;
    int count = Tlp.requests(0, bytes, maxReadRequest);
    for (Link link : links) {
      slowest = Math.max(slowest, (double) count * link.requestBytes() / link.tlpRate());
    }
    return slowest;
  }

  /** Bytes a nanosecond of messages of {@code bytes} in TLPs of {@code granule}. */
  double writeBandwidth(long bytes, int granule) {
    int payload = Math.min(granule, maxPayload);
    double bound = bytes / payloadWrites(bytes, payload);
    for (Link link : links) {
      Credits credits = link.credits();
      if (credits != null) {
        bound = Math.min(bound, Bounds.postedCredits(credits, (int) Math.min(payload, bytes)));
      }
    }
    return bound;
  }

  /**
   * Bytes a nanosecond of reads of {@code bytes} each.
   *
   * @param tags requests that may be outstanding, 0 for as many as it takes
   * @param roundTrip of one read
   */
  double readBandwidth(long bytes, int maxReadRequest, int cut, int tags, double roundTrip) {
    double bound =
        Math.min(
            bytes / payloadCompletions(bytes, maxReadRequest, cut),
            bytes / requests(bytes, maxReadRequest));
    return tags == 0
        ? bound
        : Math.min(bound, Bounds.little(tags, Math.min(bytes, maxReadRequest), roundTrip));
  }
}
