package dev.doorbell.core.fabric.timed.link;

import dev.doorbell.core.fabric.timed.event.Calendar;
import dev.doorbell.core.fabric.timed.event.Event;
import dev.doorbell.core.fabric.timed.event.EventQueue;
import dev.doorbell.core.fabric.timed.event.Picos;
import dev.doorbell.core.fabric.timed.machine.Path;
import dev.doorbell.core.fabric.timed.machine.Tlp;
import dev.doorbell.core.memory.Locus;
import java.util.ArrayDeque;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * One direction of one path of one node: what books TLPs on its links, in PCIe's order.
 *
 * <p>TLPs are cut through: a switch passes the head on before the tail arrived, so that a transfer
 * takes the latency of the path once and the serialisation of its slowest link once. Where links
 * differ or are shared, each is a server of its own.
 */
public final class Route {
  /** A cap that a topology puts on one direction of a path. */
  private static final class Cap {
    private final Calendar calendar = new Calendar();
    private final double picosPerByte;

    Cap(double bytesPerNano) {
      this.picosPerByte = Picos.perByte(bytesPerNano);
    }

    long book(long at, long bytes, long now) {
      return calendar.book(at, Math.round(bytes * picosPerByte), now);
    }
  }

  /** The loci at its ends, for traces. */
  public final String name;

  /** The start of this route. */
  public final Locus from;

  private final LinkDirection[] links;

  /** The largest payload of a TLP that all its links carry, in bytes. */
  public final int maxPayload;

  /** One-way latency without serialisation and jitter, in picoseconds. */
  public final long latency;

  /** True if reads of what lies at the end of this route are routed. */
  public final boolean routesPeerReads;

  /** The queue of completions over it. */
  public final Completer completer;

  private long lastPosted;
  private long lastVisible;
  private long departed;

  private final long[] latencies;
  private final boolean credited;
  private final boolean relaxes;
  private final @Nullable Cap readCap;
  private final @Nullable Cap writeCap;
  private final @Nullable Cap strictWriteCap;
  private final long jitter;
  private final SplittableRandom random;
  private long lastPostedStart;

  Route(
      Locus from,
      String name,
      Path path,
      LinkDirection[] links,
      long[] latencies,
      EventQueue queue,
      SplittableRandom random) {
    this.from = from;
    this.name = name;
    this.links = links;
    this.latencies = latencies;
    this.completer = new Completer(queue);
    this.random = random;
    int payload = Tlp.REQUEST_BOUNDARY;
    long sum = 0;
    boolean anyCredits = false;
    for (int i = 0; i < links.length; i++) {
      payload = Math.min(payload, links[i].link.maxPayload());
      sum += latencies[i];
      anyCredits |= links[i].credited;
    }
    this.maxPayload = payload;
    this.latency = sum;
    this.credited = anyCredits;
    this.routesPeerReads = path.peerReads();
    this.relaxes = path.relaxedOrdering();
    this.readCap = cap(path.readCap());
    this.writeCap = cap(path.writeCap());
    this.strictWriteCap = cap(path.strictWriteCap());
    this.jitter = Picos.of(path.jitterNanos());
  }

  /** When everything posted so far has arrived; nothing ordered arrives earlier. */
  public long lastPosted() {
    return lastPosted;
  }

  /**
   * When a posted write that memory is ready to show at {@code time} is visible: behind those
   * before it, unless it may pass them. Reads that follow wait for it.
   */
  public long visible(long time, boolean relaxed) {
    long visible = relaxed && relaxes ? time : Math.max(time, lastVisible);
    lastVisible = Math.max(lastVisible, visible);
    return visible;
  }

  /** When the last thing sent has left its source, so that the next may follow. */
  public long departed() {
    return departed;
  }

  private static @Nullable Cap cap(double bytesPerNano) {
    return bytesPerNano > 0 ? new Cap(bytesPerNano) : null;
  }

  /**
   * Sends posted writes.
   *
   * @param address where the first byte goes: it decides the cut
   * @param relaxed may pass what was posted before
   * @return when the last byte arrives
   */
  public long write(long at, long address, int bytes, boolean relaxed, long now) {
    boolean ordered = !(relaxed && relaxes);
    long start = ordered ? Math.max(at, lastPostedStart) : at;
    long capped = start;
    if (writeCap != null) {
      capped = writeCap.book(start, bytes, now);
    }
    if (strictWriteCap != null && ordered) {
      capped = Math.max(capped, strictWriteCap.book(start, bytes, now));
    }
    long arrival = 0;
    if (credited) {
      long left = bytes;
      long next = address;
      long latest = start;
      while (left > 0) {
        int payload = (int) Math.min(left, maxPayload - (next & (maxPayload - 1)));
        arrival = sendWrites(start, 1, payload, now);
        latest = Math.max(latest, departed);
        next += payload;
        left -= payload;
      }
      departed = latest;
    } else {
      int count = Tlp.writes(address, bytes, maxPayload);
      arrival = sendWrites(start, count, bytes, now);
    }
    departed = Math.max(departed, capped);
    arrival = Math.max(arrival, capped + latency) + disturbance();
    if (ordered) {
      arrival = Math.max(arrival, lastPosted);
      lastPosted = arrival;
    } else {
      lastPosted = Math.max(lastPosted, arrival);
    }
    return arrival;
  }

  /** Books posted TLPs on each link: one at a time where one of them counts credits. */
  private long sendWrites(long at, int count, int payload, long now) {
    long head = at;
    long tail = at;
    long before = 0;
    departed = at;
    for (int i = 0; i < links.length; i++) {
      LinkDirection link = links[i];
      long wire = payload + (long) count * link.writeOverhead;
      long from = link.credited ? link.creditsFrom(head, payload) : head;
      long end = link.book(from, count, payload, wire, now);
      head = link.started();
      if (link.credited) {
        link.takeCredits(head, payload);
      }
      if (i == 0) {
        lastPostedStart = Math.max(lastPostedStart, head);
      }
      tail = Math.max(tail, end);
      departed = Math.max(departed, end - before);
      head += latencies[i];
      tail += latencies[i];
      before += latencies[i];
    }
    return tail;
  }

  /** Sends read requests; they push everything posted before them. */
  public long request(long at, int count, long now) {
    long head = at;
    long tail = at;
    for (int i = 0; i < links.length; i++) {
      LinkDirection link = links[i];
      long end = link.book(head, count, 0, (long) count * link.requestBytes, now);
      // The completer starts on the first request while the others still arrive.
      long first = link.started() + (end - link.started()) / Math.max(1, count);
      head = link.started() + latencies[i];
      tail = Math.max(tail, first) + latencies[i];
    }
    return Math.max(tail + disturbance(), Math.max(lastPosted, lastVisible));
  }

  /** Sends an atomic's request: a header and its operands. */
  public long atomicRequest(long at, int operandBytes, long now) {
    long head = at;
    long tail = at;
    for (int i = 0; i < links.length; i++) {
      LinkDirection link = links[i];
      long end = link.book(head, 1, operandBytes, operandBytes + link.requestBytes, now);
      head = link.started() + latencies[i];
      tail = Math.max(tail, end) + latencies[i];
    }
    return Math.max(tail + disturbance(), Math.max(lastPosted, lastVisible));
  }

  /** Sends completions; they push everything posted before them on this route. */
  public long completions(long at, int count, long payload, long now) {
    long head = at;
    long tail = at;
    long before = 0;
    departed = at;
    long capped = readCap == null ? at : readCap.book(at, payload, now);
    for (int i = 0; i < links.length; i++) {
      LinkDirection link = links[i];
      long wire = payload + (long) count * link.completionOverhead;
      long end = link.book(head, count, payload, wire, now);
      head = link.started() + latencies[i];
      departed = Math.max(departed, end - before);
      tail = Math.max(tail, end) + latencies[i];
      before += latencies[i];
    }
    departed = Math.max(departed, capped);
    return Math.max(Math.max(tail, capped + latency) + disturbance(), lastPosted);
  }

  private long disturbance() {
    return jitter == 0 ? 0 : random.nextLong(jitter);
  }

  /** The queue of completions for one route: one piece after another, as the links take them. */
  public static final class Completer extends Event {
    /** Puts one piece of completions on the links. */
    @FunctionalInterface
    public interface Answer {
      /** Sends at {@code now}; returns when the next may follow. */
      long send(long now);
    }

    private final EventQueue queue;
    private final ArrayDeque<Answer> waiting = new ArrayDeque<>();
    private long free;

    private Completer(EventQueue queue) {
      this.queue = queue;
    }

    /** Answers now, or in turn. */
    public void answer(Answer answer) {
      waiting.add(answer);
      if (!scheduled()) {
        fire();
      }
    }

    @Override
    protected void fire() {
      long now = queue.clock();
      while (free <= now) {
        @Nullable Answer next = waiting.poll();
        if (next == null) {
          return;
        }
        free = next.send(now);
      }
      if (!waiting.isEmpty()) {
        queue.schedule(this, free);
      }
    }
  }
}
