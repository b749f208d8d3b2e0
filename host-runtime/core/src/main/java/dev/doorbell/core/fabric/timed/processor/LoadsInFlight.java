package dev.doorbell.core.fabric.timed.processor;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** Loads that a thread has issued and not taken yet, by ticket: the scoreboard's other side. */
public final class LoadsInFlight {
  /** A load that was served here: its lower and upper 8 bytes, and when its value is there. */
  private static final int WORDS = 4;

  /** Most threads have few at a time: there is room for more when they come. */
  private static final int FEW = 8;

  private static final int HIGH = 1;
  private static final int READY = 2;

  private final int tickets;

  /**
   * {@link #WORDS} of each ticket, side by side: a thread finds them out of the host's cache at
   * each of its turns.
   */
  private long[] served = new long[WORDS * FEW];

  private @Nullable RemoteAccess[] remote = new RemoteAccess[FEW];

  /** Tickets whose last load went elsewhere. */
  private int elsewhere;

  private boolean[] strong = new boolean[FEW];

  /** The number of loads that went elsewhere and have no answer. */
  private int unanswered;

  /** When the last value is there whose time is known. */
  private long complete;

  /** None, with room for {@code tickets}. */
  public LoadsInFlight(int tickets) {
    this.tickets = tickets;
  }

  public int tickets() {
    return tickets;
  }

  /** A load was served by the thread's own memory; its value is there {@code when}. */
  public void served(int ticket, long lower, long upper, long when) {
    makeRoom(ticket);
    int at = WORDS * ticket;
    served[at] = lower;
    served[at + HIGH] = upper;
    served[at + READY] = when;
    if (elsewhere > 0 && remote[ticket] != null) {
      remote[ticket] = null;
      elsewhere--;
    }
    complete = Math.max(complete, when);
  }

  /**
   * A load has gone elsewhere.
   *
   * @param strong whether what it finds is what the thread polls
   */
  public void sent(int ticket, RemoteAccess access, boolean strong) {
    makeRoom(ticket);
    this.strong[ticket] = strong;
    if (remote[ticket] == null) {
      elsewhere++;
    }
    remote[ticket] = access;
    unanswered++;
  }

  private void makeRoom(int ticket) {
    if (ticket >= remote.length) {
      int room = 2 * ticket;
      served = Arrays.copyOf(served, WORDS * room);
      remote = Arrays.copyOf(remote, room);
      strong = Arrays.copyOf(strong, room);
    }
  }

  /** The value of one that went elsewhere is there {@code when}. */
  public void answered(long when) {
    unanswered--;
    complete = Math.max(complete, when);
  }

  /** Returns the access that went elsewhere, or null: it was served here. */
  public @Nullable RemoteAccess remote(int ticket) {
    return elsewhere == 0 ? null : remote[ticket];
  }

  /** Returns true if the load that went elsewhere is strong. */
  public boolean strong(int ticket) {
    return strong[ticket];
  }

  /** The lower 8 bytes of a load that was served here. */
  public long low(int ticket) {
    return served[WORDS * ticket];
  }

  /** Its upper 8 bytes. */
  public long high(int ticket) {
    return served[WORDS * ticket + HIGH];
  }

  /** When its value is there. */
  public long ready(int ticket) {
    return served[WORDS * ticket + READY];
  }

  /** When all values are there, once {@link #unanswered} is null. */
  public long complete() {
    return complete;
  }

  /** One that has no answer yet, or null. */
  public @Nullable RemoteAccess unanswered() {
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
  public @Nullable RemoteAccess unanswered(long address, int bytes) {
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
  public long servedBy(long address, int bytes) {
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
