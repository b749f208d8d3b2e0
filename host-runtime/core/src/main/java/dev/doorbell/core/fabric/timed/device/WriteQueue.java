package dev.doorbell.core.fabric.timed.device;

import dev.doorbell.core.fabric.Completion;
import dev.doorbell.core.fabric.timed.event.Event;
import dev.doorbell.core.fabric.timed.interconnect.AccessPath;
import dev.doorbell.core.fabric.timed.interconnect.Interconnect;
import dev.doorbell.core.fabric.timed.link.Route;
import dev.doorbell.core.fabric.timed.machine.Tlp;
import dev.doorbell.core.memory.RawMemory;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * A device's posted writes over one route: they leave one after another, a piece of at most 4 KiB
 * at a time.
 */
final class WriteQueue extends Event {
  /** A piece of a write: what one arrival delivers. */
  private final class Piece extends Event {
    private final AccessPath path;
    private final long address;
    private final long buffer;
    private final int bytes;
    private final boolean relaxed;
    private final @Nullable Completion visible;
    private final boolean last;

    Piece(
        AccessPath path,
        long address,
        int bytes,
        boolean relaxed,
        @Nullable Completion visible,
        boolean last) {
      this.path = path;
      this.address = address;
      this.buffer = interconnect.buffers().take(bytes);
      this.bytes = bytes;
      this.relaxed = relaxed;
      this.visible = visible;
      this.last = last;
    }

    @Override
    protected void fire() {
      interconnect.arrive(path, address, buffer, bytes, time());
      interconnect.buffers().give(buffer, bytes);
      interconnect.underWay(-1);
      if (last && visible != null) {
        device.finish(visible, true);
      }
    }
  }

  private final Interconnect interconnect;
  private final TimedDevicePort device;
  private final Route route;
  private final ReadEngine reads;
  private final ArrayDeque<Piece> waiting = new ArrayDeque<>();
  private long added;
  private long sent;
  private long free;

  WriteQueue(Interconnect interconnect, TimedDevicePort device, Route route, ReadEngine reads) {
    this.interconnect = interconnect;
    this.device = device;
    this.route = route;
    this.reads = reads;
  }

  Route route() {
    return route;
  }

  /** How many pieces have been handed in: a read that follows them must not leave before them. */
  long added() {
    return added;
  }

  /** How many pieces are on their way or there. */
  long sent() {
    return sent;
  }

  void add(
      AccessPath path,
      long source,
      long address,
      int bytes,
      boolean relaxed,
      @Nullable Completion visible) {
    int done = 0;
    while (done < bytes) {
      long at = address + done;
      int room = Tlp.REQUEST_BOUNDARY - (int) (at & (Tlp.REQUEST_BOUNDARY - 1));
      int size = Math.min(room, bytes - done);
      Piece piece = new Piece(path, at, size, relaxed, visible, done + size == bytes);
      RawMemory.copy(source + done, piece.buffer, size);
      waiting.add(piece);
      interconnect.underWay(1);
      added++;
      done += size;
    }
    if (!scheduled()) {
      fire();
    }
  }

  /** Sends as long as the route takes more; then comes back when it does. */
  @Override
  protected void fire() {
    long now = interconnect.queue().clock();
    boolean any = false;
    while (!waiting.isEmpty()) {
      if (free > now) {
        interconnect.queue().schedule(this, free);
        break;
      }
      Piece piece = waiting.remove();
      long arrival = route.write(now, piece.address, piece.bytes, piece.relaxed, now);
      free = route.departed();
      sent++;
      any = true;
      interconnect.traceTransfer("MWr", route, piece.address, piece.bytes, now, arrival);
      interconnect.queue().schedule(piece, arrival);
    }
    if (any) {
      reads.pump();
    }
  }
}
