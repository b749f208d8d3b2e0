package dev.doorbell.core.fabric.timed;

import dev.doorbell.core.fabric.Completion;
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
    private final Reach reach;
    private final long address;
    private final long buffer;
    private final int bytes;
    private final boolean relaxed;
    private final @Nullable Completion visible;
    private final boolean last;

    Piece(
        Reach reach,
        long address,
        int bytes,
        boolean relaxed,
        @Nullable Completion visible,
        boolean last) {
      this.reach = reach;
      this.address = address;
      this.buffer = fabric.buffers().take(bytes);
      this.bytes = bytes;
      this.relaxed = relaxed;
      this.visible = visible;
      this.last = last;
    }

    @Override
    void fire() {
      fabric.arrive(reach, address, buffer, bytes, time);
      fabric.buffers().give(buffer, bytes);
      fabric.underWay(-1);
      if (last && visible != null) {
        device.finish(visible, true);
      }
    }
  }

  private final TimedFabric fabric;
  private final TimedDevicePort device;
  private final Route route;
  private final ReadEngine reads;
  private final ArrayDeque<Piece> waiting = new ArrayDeque<>();
  private long added;
  private long sent;
  private long free;

  WriteQueue(TimedFabric fabric, TimedDevicePort device, Route route, ReadEngine reads) {
    this.fabric = fabric;
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
      Reach reach,
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
      Piece piece = new Piece(reach, at, size, relaxed, visible, done + size == bytes);
      RawMemory.copy(source + done, piece.buffer, size);
      waiting.add(piece);
      fabric.underWay(1);
      added++;
      done += size;
    }
    if (!scheduled()) {
      fire();
    }
  }

  /** Sends as long as the route takes more; then comes back when it does. */
  @Override
  void fire() {
    long now = fabric.clock();
    boolean any = false;
    while (!waiting.isEmpty()) {
      if (free > now) {
        fabric.queue().schedule(this, free);
        break;
      }
      Piece piece = waiting.remove();
      long arrival = route.write(now, piece.address, piece.bytes, piece.relaxed, now);
      free = route.departed;
      sent++;
      any = true;
      fabric.traceTransfer("MWr", route, piece.address, piece.bytes, now, arrival);
      fabric.queue().schedule(piece, arrival);
    }
    if (any) {
      reads.pump();
    }
  }
}
