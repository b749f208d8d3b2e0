package dev.doorbell.core.fabric.timed;

import dev.doorbell.core.fabric.Rmw;
import org.jspecify.annotations.Nullable;

/** A thread's load or atomic that crosses links: the request's arrival is the event. */
final class RemoteAccess extends Event {
  final Reach reach;
  final long address;
  final int bytes;

  /** What the cell held when the request arrived. */
  long low;

  long high;

  private final TimedFabric fabric;
  private final TimedThreadPort port;
  private final @Nullable Rmw operation;
  private final long operand;
  private final long compare;

  RemoteAccess(
      TimedFabric fabric,
      TimedThreadPort port,
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

  void send(long time) {
    Route out = reach.out();
    long arrival =
        operation == null
            ? out.request(time, 1, fabric.clock())
            : out.atomicRequest(time, bytes, fabric.clock());
    fabric.queue().schedule(this, arrival + reach.owner.service);
  }

  @Override
  void fire() {
    if (reach.uar || fabric.memory().accessibleRange(address, bytes)) {
      sample();
    } else {
      // Freed under way: nobody answers, which reads as ones.
      low = -1;
      high = -1;
    }
    port.answered(reach.back().completions(time, 1, bytes, time));
  }

  private void sample() {
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
