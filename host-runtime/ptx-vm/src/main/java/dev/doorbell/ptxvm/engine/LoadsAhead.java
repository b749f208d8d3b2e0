package dev.doorbell.ptxvm.engine;

import dev.doorbell.core.fabric.ThreadPort;
import org.jspecify.annotations.Nullable;

/**
 * The scoreboard of a thread whose fabric lets it go on while loads are under way: which registers
 * still wait for which load. Loads are issued in order under tickets that go round, so that one
 * more than there are tickets waits for the oldest.
 */
final class LoadsAhead {
  private final ThreadPort port;
  private final @Nullable LoadOp[] loads;
  private final long[] addresses;

  /** By slot: the ticket of the load that it waits for, plus 1; 0 for none. */
  private final short[] waiting;

  private int pending;
  private int next;

  private LoadsAhead(ThreadPort port, int tickets, int slots) {
    this.port = port;
    this.loads = new LoadOp[tickets];
    this.addresses = new long[tickets];
    this.waiting = new short[slots];
  }

  /** That of a thread with so many registers; null where it waits for each load. */
  static @Nullable LoadsAhead of(ThreadPort port, int slots) {
    int tickets = port.loadsAhead();
    return tickets == 0 ? null : new LoadsAhead(port, tickets, slots);
  }

  /** Issues a load; false when the port parked. */
  boolean issue(VmThread t, LoadOp load, long address) {
    int ticket = next;
    if (loads[ticket] != null && !take(t, ticket)) {
      return false;
    }
    t.account();
    port.issue(ticket, address, load.bytes, load.access);
    if (port.parked) {
      return false;
    }
    loads[ticket] = load;
    addresses[ticket] = address;
    for (int slot : load.results) {
      waiting[slot] = (short) (ticket + 1);
    }
    pending++;
    next = ticket + 1 == loads.length ? 0 : ticket + 1;
    return true;
  }

  /** Waits for the registers in {@code slots}; false when the port parked. */
  boolean settle(VmThread t, int[] slots) {
    if (pending > 0) {
      for (int slot : slots) {
        int ticket = waiting[slot] - 1;
        if (ticket >= 0 && !take(t, ticket)) {
          return false;
        }
      }
    }
    return true;
  }

  /** Waits for all registers, oldest load first; false when the port parked. */
  boolean settleAll(VmThread t) {
    int ticket = next;
    for (int i = 0; i < loads.length && pending > 0; i++) {
      if (loads[ticket] != null && !take(t, ticket)) {
        return false;
      }
      ticket = ticket + 1 == loads.length ? 0 : ticket + 1;
    }
    return true;
  }

  private boolean take(VmThread t, int ticket) {
    LoadOp load = loads[ticket];
    if (load == null) {
      return true;
    }
    t.account();
    long low = port.take(ticket);
    if (port.parked) {
      return false;
    }
    loads[ticket] = null;
    pending--;
    for (int slot : load.results) {
      waiting[slot] = 0;
    }
    load.arrived(t, t.r, addresses[ticket], low, load.bytes > Long.BYTES ? port.high : 0);
    return true;
  }
}
