package dev.doorbell.core.fabric.timed.link;

/**
 * The ways from a GPU to the members of a multicast object: the NVSwitch copies a request or a
 * write to each member, its own GPU included, and reduces what they answer to one completion.
 */
public final class Multipath {
  private final LinkDirection up;
  private final LinkDirection down;
  private final LinkDirection[] to;
  private final LinkDirection[] from;
  private final long hop;

  /**
   * @param to down the ports of the members
   * @param from up the same
   * @param hop picoseconds between a GPU and the switch
   */
  Multipath(
      LinkDirection up, LinkDirection down, LinkDirection[] to, LinkDirection[] from, long hop) {
    this.up = up;
    this.down = down;
    this.to = to;
    this.from = from;
    this.hop = hop;
  }

  /** Sends a read request at {@code at}; returns when the last member has it, in picoseconds. */
  public long request(long at, long now) {
    long copied = up.book(at, 1, 0, up.requestBytes, now) + hop;
    long last = copied;
    for (LinkDirection member : to) {
      last = Math.max(last, member.book(copied, 1, 0, member.requestBytes, now));
    }
    return last + hop;
  }

  /** All members answer at {@code at}; returns when the reduced payload is back. */
  public long completion(long at, int payload, long now) {
    long last = at;
    for (LinkDirection member : from) {
      last = Math.max(last, member.book(at, 1, payload, payload, now));
    }
    return down.book(last + hop, 1, payload, payload, now) + hop;
  }

  /**
   * Sends a posted write.
   *
   * @param arrivals takes when each member has it
   * @return the latest of these
   */
  public long write(long at, int payload, long now, long[] arrivals) {
    long copied = up.book(at, 1, payload, payload, now) + hop;
    long last = 0;
    for (int i = 0; i < to.length; i++) {
      arrivals[i] = to[i].book(copied, 1, payload, payload, now) + hop;
      last = Math.max(last, arrivals[i]);
    }
    return last;
  }
}
