package dev.doorbell.core.fabric.timed.device;

import dev.doorbell.core.fabric.Completion;
import dev.doorbell.core.fabric.timed.event.Event;
import dev.doorbell.core.fabric.timed.interconnect.AccessPath;
import dev.doorbell.core.fabric.timed.interconnect.Component;
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

    /** When its bytes have been taken from the device's memory. */
    private final long ready;

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
      this.ready = engine.fetched(bytes, interconnect.queue().clock());
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
  private final DmaEngine engine;
  private final ReadEngine reads;
  private final ArrayDeque<Piece> waiting = new ArrayDeque<>();
  private long added;
  private long sent;
  private long free;

  WriteQueue(
      Interconnect interconnect,
      TimedDevicePort device,
      Route route,
      DmaEngine engine,
      ReadEngine reads) {
    this.interconnect = interconnect;
    this.device = device;
    this.route = route;
    this.engine = engine;
    this.reads = reads;
  }

  Route route() {
    return route;
  }

  /** The number of pieces handed in: a read that follows them must not leave before them. */
  long added() {
    return added;
  }

  /** The number of pieces on their way or there. */
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
    while (true) {
      Piece piece = waiting.peek();
      if (piece == null) {
        break;
      }
      long start = Math.max(Math.max(free, engine.writeFree()), piece.ready);
      if (start > now) {
        interconnect.queue().schedule(this, start);
        break;
      }
      waiting.remove();
      long arrival = route.write(now, piece.address, piece.bytes, piece.relaxed, now);
      engine.issueWrite(piece.bytes, now);
      Component owner = piece.path.owner;
      long translated = owner.posted(piece.address, piece.bytes, arrival);
      long visible = route.visible(translated, piece.relaxed);
      free = route.departed() + owner.taken(arrival) - arrival;
      sent++;
      any = true;
      interconnect.traceTransfer("MWr", route, piece.address, piece.bytes, now, arrival);
      interconnect.queue().schedule(piece, visible);
    }
    if (any) {
      reads.pump();
    }
  }
}
