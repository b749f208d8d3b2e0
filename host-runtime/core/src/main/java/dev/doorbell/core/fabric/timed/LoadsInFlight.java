package dev.doorbell.core.fabric.timed;

import org.jspecify.annotations.Nullable;

/** Loads that a thread has issued and not taken yet, by ticket: the scoreboard's other side. */
final class LoadsInFlight {
  private final long[] low;
  private final long[] high;
  private final long[] ready;
  private final @Nullable RemoteAccess[] remote;

  /** Of those that went elsewhere, how many have no answer. */
  private int unanswered;

  /** When the last value that is known of is there. */
  private long complete;

  LoadsInFlight(int tickets) {
    low = new long[tickets];
    high = new long[tickets];
    ready = new long[tickets];
    remote = new RemoteAccess[tickets];
  }

  int tickets() {
    return remote.length;
  }

  /** A load was served by the thread's own memory; its value is there {@code when}. */
  void served(int ticket, long lower, long upper, long when) {
    low[ticket] = lower;
    high[ticket] = upper;
    ready[ticket] = when;
    remote[ticket] = null;
    complete = Math.max(complete, when);
  }

  /** A load has gone elsewhere. */
  void sent(int ticket, RemoteAccess access) {
    remote[ticket] = access;
    unanswered++;
  }

  /** The value of one that went elsewhere is there {@code when}. */
  void answered(long when) {
    unanswered--;
    complete = Math.max(complete, when);
  }

  /** What went elsewhere, or null: it was served here. */
  @Nullable RemoteAccess remote(int ticket) {
    return remote[ticket];
  }

  long low(int ticket) {
    return low[ticket];
  }

  long high(int ticket) {
    return high[ticket];
  }

  long ready(int ticket) {
    return ready[ticket];
  }

  /** When all values are there, once {@link #unanswered} knows of none. */
  long complete() {
    return complete;
  }

  /** One that has no answer yet, or null. */
  @Nullable RemoteAccess unanswered() {
    if (unanswered > 0) {
      for (RemoteAccess access : remote) {
        if (access != null && !access.answered()) {
          return access;
        }
      }
    }
    return null;
  }

  /** One of any of these bytes that has no answer yet, or null. */
  @Nullable RemoteAccess unanswered(long address, int bytes) {
    if (unanswered > 0) {
      for (RemoteAccess access : remote) {
        if (access != null && !access.answered() && access.touches(address, bytes)) {
          return access;
        }
      }
    }
    return null;
  }

  /**
   * When memory has served all that are under way of any of these bytes; 0 where there are none.
   */
  long servedBy(long address, int bytes) {
    long last = 0;
    if (unanswered > 0) {
      for (RemoteAccess access : remote) {
        if (access != null && !access.answered() && access.touches(address, bytes)) {
          last = Math.max(last, access.servedAt());
        }
      }
    }
    return last;
  }
}
