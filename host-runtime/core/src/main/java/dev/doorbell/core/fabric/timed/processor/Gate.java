package dev.doorbell.core.fabric.timed.processor;

import dev.doorbell.core.fabric.timed.event.Picos;
import org.jspecify.annotations.Nullable;

/** A bound on throughput: bytes pass at a rate, one request of a warp after another. */
public final class Gate {
  private final double picosPerByte;
  private double free;

  /**
   * @param bytesPerNano its rate
   */
  Gate(double bytesPerNano) {
    this.picosPerByte = Picos.perByte(bytesPerNano);
  }

  /** The gate of a rate; null for 0, which means no bound. */
  static @Nullable Gate of(double bytesPerNano) {
    return bytesPerNano == 0 ? null : new Gate(bytesPerNano);
  }

  /**
   * Where the lanes of one warp come to the gate. What they bring at one instant is one request:
   * its bytes pass one after another, but the warp has one turn, and goes on as one.
   */
  public final class Entry {
    private long asked = -1;
    private long turn;

    /** The lanes that are part of the request, a bit each. */
    private int lanes;

    /**
     * Lets an access of a lane through.
     *
     * @return when its request has its turn: at {@code time} or later
     */
    public long pass(int lane, long time, int bytes) {
      double from = Math.max((double) time, free);
      if (time != asked || (lanes >>> lane & 1) != 0) {
        asked = time;
        turn = Math.round(from);
        lanes = 0;
      }
      lanes |= 1 << lane;
      free = from + bytes * picosPerByte;
      return turn;
    }
  }
}
