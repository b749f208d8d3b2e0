package dev.doorbell.softhca.wire;

import dev.doorbell.core.memory.RawMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * What a loop does that steps wires to other processes and finds nothing to do: it goes round a few
 * times, since most answers come soon, and then sleeps until something arrives. A loop that never
 * sleeps takes the processor from the very process that it waits for, where there are more
 * processes than processors.
 *
 * <pre>
 *  pollfd, 8 bytes:     descriptor 0 | events asked for 4 | events 6
 *  timespec, 16 bytes:  seconds 0 | nanoseconds 8
 * </pre>
 */
public final class Idleness {
  private static final int ROUNDS = 64;
  private static final long NANOS = 1_000_000;
  private static final int POLL = 8;
  private static final int TIME = 16;
  private static final short POLLIN = 1;

  private final LinuxSockets libc = new LinuxSockets();
  private final List<RoceWire> wires;
  private final MemorySegment memory;
  private long seen = -1;
  private int idle;

  /**
   * A loop that steps {@code wires}, and whatever uses them, and nothing else that may have
   * something to do by itself.
   */
  public Idleness(List<RoceWire> wires) {
    this.wires = List.copyOf(wires);
    this.memory = Arena.ofAuto().allocate(TIME + (long) POLL * wires.size(), Long.BYTES);
  }

  /**
   * To be called once a sweep. Sleeps for a millisecond at most, and until something arrives, when
   * many sweeps in a row have carried nothing.
   */
  public void look() {
    long carried = 0;
    for (int i = 0; i < wires.size(); i++) {
      carried += wires.get(i).carried();
    }
    if (carried != seen) {
      seen = carried;
      idle = 0;
    } else if (++idle >= ROUNDS) {
      await(NANOS);
    }
  }

  /** Waits until something has arrived, at most {@code nanos}. Nothing is stepped meanwhile. */
  public boolean await(long nanos) {
    long time = memory.address();
    RawMemory.putLong(time, nanos / 1_000_000_000);
    RawMemory.putLong(time + Long.BYTES, nanos % 1_000_000_000);
    for (int i = 0; i < wires.size(); i++) {
      long poll = time + TIME + (long) i * POLL;
      RawMemory.putInt(poll, wires.get(i).descriptor());
      RawMemory.putInt(poll + Integer.BYTES, POLLIN);
    }
    return libc.ppoll(time + TIME, wires.size(), time) > 0;
  }
}
