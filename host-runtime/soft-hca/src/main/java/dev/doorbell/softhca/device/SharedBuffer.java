package dev.doorbell.softhca.device;

import dev.doorbell.core.fabric.Completion;
import dev.doorbell.core.fabric.DevicePort;
import dev.doorbell.softhca.packet.Packet;
import java.util.ArrayDeque;
import java.util.Arrays;

/**
 * Memory of an HCA that all its queue pairs use in turns. It bounds what is under way inside of the
 * HCA, so that backlog stays in the queues of those that caused it: a queue pair that finds no room
 * waits, and those that wait have a turn of {@value #QUANTUM} bytes each in the order in which they
 * came. Whoever has more to do after its turn waits behind the others.
 */
public final class SharedBuffer implements Packet.Buffer {
  /** Bytes of a turn: the largest packet. */
  public static final int QUANTUM = Packet.MAX_PAYLOAD;

  /** Least bytes that are taken. */
  private static final int CELL = 64;

  private static final int FIRST_SIZE = 16;

  /** The place of one half of a queue pair among those that wait. */
  public static final class Turn {
    private final Runnable onTurn;
    private boolean waits;

    /** Bytes of its turn that it has not used. */
    private int credit;

    /**
     * @param onTurn called when room was reserved for it: it is to ask again, then {@link #end}
     */
    public Turn(Runnable onTurn) {
      this.onTurn = onTurn;
    }

    /** True while it waits for its turn. */
    public boolean waits() {
      return waits;
    }
  }

  private final DevicePort port;
  private final int limit;
  private final ArrayDeque<Turn> waiting = new ArrayDeque<>();
  private final Completion timer = this::timerExpired;
  private boolean timerRuns;

  /** Bytes in use or reserved. */
  private int used;

  // Bytes that are in use until a known time in nanoseconds, oldest first.
  private long[] times = new long[FIRST_SIZE];
  private int[] sizes = new int[FIRST_SIZE];
  private int head;
  private int count;

  /**
   * @param limit bytes, at least {@link #QUANTUM}; 0: no limit
   */
  SharedBuffer(DevicePort port, int limit) {
    this.port = port;
    this.limit = limit;
  }

  /**
   * Takes room for {@code bytes}, {@link #QUANTUM} at most.
   *
   * @return false when {@code turn} has to wait: it is called when it may ask again
   */
  public boolean take(Turn turn, int bytes) {
    if (limit == 0) {
      return true;
    }
    int size = size(bytes);
    if (turn.credit >= size) {
      turn.credit -= size;
      return true;
    }
    used -= turn.credit;
    turn.credit = 0;
    reclaim();
    if (waiting.isEmpty() && used + size <= limit) {
      used += size;
      return true;
    }
    if (!turn.waits) {
      turn.waits = true;
      waiting.add(turn);
    }
    serve();
    return false;
  }

  /** Acts as {@link #take(Turn, int)}, for a packet, which holds the room until it leaves. */
  public boolean take(Turn turn, Packet packet, int bytes) {
    if (!take(turn, bytes)) {
      return false;
    }
    if (limit != 0) {
      packet.hold(this, bytes);
    }
    return true;
  }

  /** Gives back what {@code turn} has not used. */
  public void end(Turn turn) {
    if (turn.credit != 0) {
      used -= turn.credit;
      turn.credit = 0;
      serve();
    }
  }

  /** {@code turn} waits no longer. */
  public void cancel(Turn turn) {
    if (turn.waits) {
      turn.waits = false;
      waiting.remove(turn);
    }
    end(turn);
  }

  /** Gives back what was taken for {@code bytes}. */
  public void release(int bytes) {
    leaves(bytes, 0);
  }

  @Override
  public void leaves(int bytes, long nanos) {
    if (limit == 0) {
      return;
    }
    if (nanos <= 0) {
      used -= size(bytes);
    } else {
      add(port.now() + nanos, size(bytes));
    }
    if (!waiting.isEmpty()) {
      reclaim();
      serve();
    }
  }

  private static int size(int bytes) {
    return Math.clamp(bytes, CELL, QUANTUM);
  }

  private void add(long time, int size) {
    int capacity = times.length;
    if (count == capacity) {
      long[] oldTimes = times;
      int[] oldSizes = sizes;
      times = Arrays.copyOf(oldTimes, 2 * capacity);
      sizes = Arrays.copyOf(oldSizes, 2 * capacity);
      // The part before the head comes after the rest.
      System.arraycopy(oldTimes, 0, times, capacity, head);
      System.arraycopy(oldSizes, 0, sizes, capacity, head);
      capacity *= 2;
    }
    int at = (head + count++) & (capacity - 1);
    times[at] = time;
    sizes[at] = size;
  }

  /** Takes back what has left by now. */
  private void reclaim() {
    if (count == 0) {
      return;
    }
    long now = port.now();
    while (count > 0 && times[head] <= now) {
      used -= sizes[head];
      head = (head + 1) & (times.length - 1);
      count--;
    }
  }

  /** Gives turns as far as there is room, and comes back when more has left. */
  private void serve() {
    while (used + QUANTUM <= limit) {
      Turn next = waiting.poll();
      if (next == null) {
        return;
      }
      next.waits = false;
      next.credit = QUANTUM;
      used += QUANTUM;
      next.onTurn.run();
    }
    if (waiting.isEmpty() || timerRuns) {
      return;
    }
    int missing = used + QUANTUM - limit;
    for (int i = 0; i < count; i++) {
      int at = (head + i) & (times.length - 1);
      missing -= sizes[at];
      if (missing <= 0) {
        timerRuns = true;
        port.timer(times[at] - port.now(), timer);
        return;
      }
    }
  }

  private void timerExpired(boolean ok) {
    timerRuns = false;
    reclaim();
    serve();
  }
}
