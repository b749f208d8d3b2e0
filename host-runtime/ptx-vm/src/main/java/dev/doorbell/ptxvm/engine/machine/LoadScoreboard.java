package dev.doorbell.ptxvm.engine.machine;

import dev.doorbell.core.fabric.ThreadPort;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The scoreboard of a thread whose fabric lets it go on while loads are under way: which registers
 * still wait for which load. Loads are issued in order under tickets that go round, so that one
 * more than there are tickets waits for the oldest.
 */
public final class LoadScoreboard {
  private static final int FEW_TICKETS = 8;

  private final ThreadPort port;
  private final Polling polling;
  private final long[] registers;

  /** Tells the port what was executed, before each access. */
  private final Runnable account;

  private final int tickets;

  /** Loads by ticket; as long as was needed so far. */
  private @Nullable PendingLoad[] loads = new PendingLoad[FEW_TICKETS];

  private long[] addresses = new long[FEW_TICKETS];

  /** Tickets by slot: that of the load that it waits for, plus 1; 0 for none. */
  private final short[] waiting;

  private int pending;
  private int next;

  /**
   * @param written how many registers, the first ones, loads may write
   */
  LoadScoreboard(
      ThreadPort port,
      Polling polling,
      long[] registers,
      int written,
      Runnable account,
      int tickets) {
    this.port = port;
    this.polling = polling;
    this.registers = registers;
    this.account = account;
    this.tickets = tickets;
    this.waiting = new short[written];
  }

  /** Issues a load; false when the port parked. */
  public boolean issue(PendingLoad load, long address) {
    int ticket = next;
    if (ticket >= loads.length) {
      loads = Arrays.copyOf(loads, 2 * loads.length);
      addresses = Arrays.copyOf(addresses, 2 * addresses.length);
    }
    if (loads[ticket] != null && !take(ticket)) {
      return false;
    }
    account.run();
    port.issue(ticket, address, load.bytes(), load.access());
    if (port.parked) {
      return false;
    }
    loads[ticket] = load;
    addresses[ticket] = address;
    for (int slot : load.results()) {
      waiting[slot] = (short) (ticket + 1);
    }
    pending++;
    next = ticket + 1 == tickets ? 0 : ticket + 1;
    return true;
  }

  /** Waits for the registers in {@code slots}; false when the port parked. */
  public boolean await(int[] slots) {
    if (pending > 0) {
      for (int slot : slots) {
        int ticket = waiting[slot] - 1;
        if (ticket >= 0 && !take(ticket)) {
          return false;
        }
      }
      restartIfEmpty();
    }
    return true;
  }

  /** Waits for all registers, oldest load first; false when the port parked. */
  public boolean awaitAll() {
    if (pending == 0) {
      return true;
    }
    int ticket = next < loads.length ? next : 0;
    for (int i = 0; i < loads.length && pending > 0; i++) {
      if (loads[ticket] != null && !take(ticket)) {
        return false;
      }
      ticket = ticket + 1 == loads.length ? 0 : ticket + 1;
    }
    restartIfEmpty();
    return true;
  }

  /**
   * Any ticket may come next when all are free; the first ones are in the host's cache. Not between
   * a load that parked and its repetition, which must have the same ticket.
   */
  private void restartIfEmpty() {
    if (pending == 0) {
      next = 0;
    }
  }

  private boolean take(int ticket) {
    PendingLoad load = loads[ticket];
    if (load == null) {
      return true;
    }
    account.run();
    long low = port.take(ticket);
    if (port.parked) {
      return false;
    }
    loads[ticket] = null;
    pending--;
    for (int slot : load.results()) {
      waiting[slot] = 0;
    }
    long high = load.bytes() > Long.BYTES ? port.high : 0;
    load.arrived(polling, registers, addresses[ticket], low, high);
    return true;
  }

  /** A load that is under way while its thread goes on. */
  public interface PendingLoad {
    /** The slots that it writes. */
    int[] results();

    /** Bytes of the access: at most 16. */
    int bytes();

    /** {@code Access} bits. */
    int access();

    /** Writes the value to the registers and notes the load for the polling detection. */
    void arrived(Polling polling, long[] r, long address, long low, long high);
  }
}
