package dev.doorbell.core.fabric.timed.link;

import dev.doorbell.core.fabric.timed.event.Calendar;
import dev.doorbell.core.fabric.timed.event.Picos;
import dev.doorbell.core.fabric.timed.machine.Link;
import dev.doorbell.core.fabric.timed.machine.Link.Credits;
import dev.doorbell.core.fabric.timed.machine.Tlp;
import java.util.Arrays;

/** One direction of one link of one node: a server, its credits and its counters. */
final class LinkDirection {
  final Link link;
  final String name;
  final int writeOverhead;
  final int requestBytes;
  final int completionOverhead;
  final boolean credited;

  long tlps;
  long wireBytes;
  long payloadBytes;

  private final double picosPerByte;
  private final Calendar calendar = new Calendar();
  private final long creditReturn;

  /** When each of the last {@code headers} and {@code data} credits was used, in rings. */
  private final long[] headersUsed;

  private final long[] dataUsed;
  private long headerCount;
  private long dataCount;

  LinkDirection(Link link, int rank, boolean forward) {
    this(link, rank, forward, link.requestBytes());
  }

  LinkDirection(Link link, int rank, boolean forward, int requestBytes) {
    this.link = link;
    String from = forward ? link.from() : link.to();
    String to = forward ? link.to() : link.from();
    this.name = "rank%d.%s:%s>%s".formatted(rank, link.name(), from, to);
    this.writeOverhead = link.writeOverhead();
    this.requestBytes = requestBytes;
    this.completionOverhead = link.completionOverhead();
    this.picosPerByte = Picos.perByte(link.tlpRate());
    Credits credits = link.credits();
    this.credited = credits != null;
    this.creditReturn = credits == null ? 0 : Picos.of(credits.returnNanos());
    this.headersUsed = new long[credits == null ? 0 : credits.headers()];
    this.dataUsed = new long[credits == null ? 0 : credits.data()];
    Arrays.fill(headersUsed, Long.MIN_VALUE / 2);
    Arrays.fill(dataUsed, Long.MIN_VALUE / 2);
  }

  /** When the TLPs booked last start. */
  long started() {
    return calendar.started();
  }

  /**
   * Puts TLPs on the link.
   *
   * @return when their last byte has left
   */
  long book(long earliest, int count, long payload, long wire, long now) {
    tlps += count;
    payloadBytes += payload;
    wireBytes += wire;
    return calendar.book(earliest, Math.round(wire * picosPerByte), now);
  }

  /** When a posted TLP of {@code payload} bytes that could start at {@code at} has credits. */
  long creditsFrom(long at, int payload) {
    int data = Math.min(Tlp.dataCredits(payload), dataUsed.length);
    long from = Math.max(at, headersUsed[(int) (headerCount % headersUsed.length)] + creditReturn);
    if (data > 0) {
      long last = dataUsed[(int) ((dataCount + data - 1) % dataUsed.length)];
      from = Math.max(from, last + creditReturn);
    }
    return from;
  }

  /** Takes the credits of one posted TLP that starts at {@code at}. */
  void takeCredits(long at, int payload) {
    headersUsed[(int) (headerCount++ % headersUsed.length)] = at;
    int data = Math.min(Tlp.dataCredits(payload), dataUsed.length);
    for (int i = 0; i < data; i++) {
      dataUsed[(int) (dataCount++ % dataUsed.length)] = at;
    }
  }
}
