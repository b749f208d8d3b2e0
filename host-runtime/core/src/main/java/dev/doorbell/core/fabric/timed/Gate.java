package dev.doorbell.core.fabric.timed;

import org.jspecify.annotations.Nullable;

/** What lets so many bytes a nanosecond through, one request of a warp after another. */
final class Gate {
  private static final double PICOS_PER_NANO = 1000;

  private final double picosPerByte;
  private double free;

  /**
   * @param bytesPerNano its rate
   */
  Gate(double bytesPerNano) {
    this.picosPerByte = PICOS_PER_NANO / bytesPerNano;
  }

  /** That of a rate; null where 0 bytes a nanosecond say that there is no bound. */
  static @Nullable Gate of(double bytesPerNano) {
    return bytesPerNano == 0 ? null : new Gate(bytesPerNano);
  }

  /**
   * Where the lanes of one warp come to the gate. What they bring at one instant is one request:
   * its bytes pass one after another, but the warp has one turn, and goes on as one.
   */
  final class Entry {
    private long asked = -1;
    private long turn;

    /** The lanes that are part of the request, a bit each. */
    private int lanes;

    /**
     * Lets an access of a lane through.
     *
     * @return when its request has its turn: at {@code time} or later
     */
    long pass(int lane, long time, int bytes) {
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
