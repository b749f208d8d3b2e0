package dev.doorbell.core.fabric.timed;

import dev.doorbell.core.fabric.Rmw;
import dev.doorbell.core.fabric.timed.machine.GpuRefinements;
import org.jspecify.annotations.Nullable;

/** A thread's load or atomic that crosses links: the request's arrival is the event. */
final class RemoteAccess extends Event {
  private static final long NEVER = -1;

  final Reach reach;
  final long address;
  final int bytes;

  /** What the cell held when the request arrived. */
  long low;

  long high;

  /** Whether what it found is what the thread polls. */
  boolean strong;

  /** Loads that travel with this one. */
  private @Nullable RemoteAccess companion;

  private long sent;
  private long notBefore;
  private long servedAt;
  private long answeredAt = NEVER;

  /** When everything posted before this has arrived, as of its departure. */
  private long behind;

  private final TimedFabric fabric;
  private final LoadingThread port;
  private final @Nullable Rmw operation;
  private final long operand;
  private final long compare;

  RemoteAccess(
      TimedFabric fabric,
      LoadingThread port,
      Reach reach,
      long address,
      int bytes,
      @Nullable Rmw operation,
      long operand,
      long compare) {
    this.fabric = fabric;
    this.port = port;
    this.reach = reach;
    this.address = address;
    this.bytes = bytes;
    this.operation = operation;
    this.operand = operand;
    this.compare = compare;
  }

  /** Whether it is a load, not an atomic. */
  boolean loads() {
    return operation == null;
  }

  /** Whether it is of any of these bytes. */
  boolean touches(long from, int length) {
    return from < address + bytes && address < from + length;
  }

  /** Memory serves it no earlier than at {@code when}, which is to be said before it is sent. */
  void notBefore(long when) {
    notBefore = when;
  }

  /** When memory serves it, once it was sent. */
  long servedAt() {
    return servedAt;
  }

  /** Whether it is known when the answer is there. */
  boolean answered() {
    return answeredAt != NEVER;
  }

  long answeredAt() {
    return answeredAt;
  }

  private void answer(long when) {
    answeredAt = when;
    port.answered(this, when);
  }

  /** It is under way. */
  void counted() {
    port.place.loadsUnderWay++;
  }

  /** The aligned line in which its first byte lies. */
  long line(int granule) {
    return address & -granule;
  }

  /** The one in which its last byte lies. */
  long lastLine(int granule) {
    return (address + bytes - 1) & -granule;
  }

  /**
   * Takes another load of the same instant and line along. Not where something was posted in
   * between: the load might have to see it.
   */
  boolean takes(RemoteAccess other, long line, int granule, long time) {
    if (!scheduled()
        || sent != time
        || line(granule) != line
        || reach.out() != other.reach.out()
        || behind != reach.out().lastPosted
        || other.notBefore > servedAt) {
      return false;
    }
    other.servedAt = servedAt;
    other.companion = companion;
    companion = other;
    return true;
  }

  void send(long time) {
    Route out = reach.out();
    sent = time;
    behind = out.lastPosted;
    long arrival =
        operation == null
            ? out.request(time, 1, fabric.clock())
            : out.atomicRequest(time, bytes, fabric.clock());
    servedAt = Math.max(arrival + reach.owner.service, notBefore);
    fabric.queue().schedule(this, servedAt);
  }

  @Override
  void fire() {
    long from = address;
    long to = address + bytes;
    int sum = 0;
    for (RemoteAccess each = this; each != null; each = each.companion) {
      each.sample(time);
      from = Math.min(from, each.address);
      to = Math.max(to, each.address + each.bytes);
      sum += each.bytes;
    }
    // As many bytes as were asked for, those that several asked for but once.
    int payload = (int) Math.min(sum, to - from);
    long back = reach.back().completions(time, 1, payload, time);
    Place place = port.place;
    if (!loads()) {
      answer(back + place.remoteAtomic);
      return;
    }
    back += place.remoteLoad + Math.round(place.loadsUnderWay * place.remoteContention);
    for (RemoteAccess each = this; each != null; each = each.companion) {
      place.loadsUnderWay--;
      each.answer(back + each.spread(payload));
    }
  }

  /** What it takes longer because a warp's loads of this width cover several lines. */
  private long spread(int payload) {
    if (payload <= GpuRefinements.SECTOR_BYTES || bytes <= Integer.BYTES) {
      return 0;
    }
    return Integer.numberOfTrailingZeros(bytes / Integer.BYTES) * port.place.remoteSpread;
  }

  private void sample(long time) {
    if (!reach.uar && !fabric.memory().accessibleRange(address, bytes)) {
      // Freed under way: nobody answers, which reads as ones.
      low = -1;
      high = -1;
      return;
    }
    if (bytes == 16) {
      low = Cells.load(address, Long.BYTES);
      high = Cells.load(address + Long.BYTES, Long.BYTES);
      return;
    }
    low = Cells.load(address, bytes);
    if (operation != null) {
      long changed = operation.apply(low, bytes, operand, compare);
      if (changed != low) {
        Cells.store(address, bytes, changed);
        fabric.written(reach.owner, address, bytes, time);
      }
    }
  }
}
