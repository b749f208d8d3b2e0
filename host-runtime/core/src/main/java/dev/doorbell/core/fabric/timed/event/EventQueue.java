package dev.doorbell.core.fabric.timed.event;

import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The clock of virtual time and the events to come, by time; those of one moment happen in the
 * order in which they were scheduled.
 *
 * <p>Each rank has a timeline of its own. Where nothing that one rank does reaches another one in
 * less than the {@link #lookahead}, events that say so run ahead of other ranks by up to that: they
 * happen as often and at the same times, but many of one rank after each other, so that what they
 * need is in the cache. All other events happen in the order of their times. Nothing is allocated
 * for an event.
 */
public final class EventQueue {
  /** Events of no rank; nothing runs ahead of them. */
  private final Timeline common = new Timeline();

  private final Map<Integer, RankEvents> ranks = new HashMap<>();

  /** Timelines with events, but for the active one. */
  private final EventHeap others = new EventHeap();

  /** That of the event polled last. */
  private @Nullable Timeline active;

  private long lookahead;

  /** Nothing runs ahead of this. */
  private long limit = Long.MAX_VALUE;

  private int size;
  private long scheduled;
  private long fired;
  private long clock;

  /** The event carried out last by time, when it was scheduled, and its number. */
  private long lastTime;

  private long lastBorn;
  private long lastOrder;

  /** Where the events of a rank belong. */
  public RankEvents rank(int number) {
    return ranks.computeIfAbsent(number, key -> new RankEvents());
  }

  /** How many ranks have asked for {@link #rank}. */
  public int ranks() {
    return ranks.size();
  }

  /**
   * Says how far events may run ahead.
   *
   * @param picos nothing that a rank does reaches another one in less; 0: not known
   * @param until nothing runs ahead of this time
   */
  public void lookahead(long picos, long until) {
    lookahead = picos;
    limit = until;
  }

  /** Whether events may run ahead of other ranks: then what happens at one instant has no order. */
  public boolean runsAhead() {
    return lookahead > 0;
  }

  /** The current virtual time in picoseconds, from 0. */
  public long clock() {
    return clock;
  }

  /** Sets the clock. */
  public void clock(long time) {
    clock = time;
  }

  /** Sets the clock to the time of {@code event}, which was polled, and carries it out. */
  public void fire(Event event) {
    clock = event.time();
    fired++;
    if (clock > lastTime || (clock == lastTime && isLater(event))) {
      lastTime = clock;
      lastBorn = event.born;
      lastOrder = event.order;
    }
    event.fire();
  }

  private boolean isLater(Event event) {
    return event.born != lastBorn ? event.born > lastBorn : event.order > lastOrder;
  }

  /** How many events have been carried out. */
  public long fired() {
    return fired;
  }

  /** How many events are scheduled. */
  public int size() {
    return size;
  }

  /** The time of the next event, or {@link Long#MAX_VALUE}. */
  public long nextTime() {
    Timeline here = active;
    long other = others.firstTime();
    return here == null ? other : Math.min(here.nextTime(), other);
  }

  /** Up to when nothing happens that an event that runs ahead, and is being fired, could notice. */
  public long quietUntil() {
    Timeline here = active;
    return here == null || lookahead == 0 ? nextTime() : Math.min(here.nextTime(), horizon());
  }

  private long horizon() {
    long other = others.firstTime();
    long reach = other >= Long.MAX_VALUE - lookahead ? other : other + lookahead - 1;
    return Math.min(Math.min(common.nextTime(), limit), reach);
  }

  /** Schedules an event, or moves one that is scheduled already. */
  public void schedule(Event event, long time) {
    remove(event);
    event.schedule(time, clock, scheduled++);
    Timeline here = active;
    Timeline home = event.home();
    Timeline to = home != null ? home : here != null ? here : common;
    event.at = to;
    size++;
    Event before = to.first();
    to.add(event);
    if (to != here && (before == null || time < before.time())) {
      replace(to);
    }
  }

  /** Takes an event out; nothing when it is not scheduled. */
  public void remove(Event event) {
    Timeline from = event.at;
    if (from == null || !event.scheduled()) {
      return;
    }
    size--;
    Event before = from.first();
    from.remove(event);
    if (from != active && event.equals(before)) {
      replace(from);
    }
  }

  /** Puts a timeline that is not the active one where its next event is. */
  private void replace(Timeline timeline) {
    if (timeline.scheduled()) {
      others.remove(timeline);
    }
    Event next = timeline.first();
    if (next != null) {
      timeline.follow(next);
      others.add(timeline);
    }
  }

  /** Takes out the next event, or returns null. */
  public @Nullable Event poll() {
    Timeline here = active;
    if (here == null || !goesOn(here)) {
      rest();
      here = (Timeline) others.first();
      if (here == null) {
        return null;
      }
      others.remove(here);
      active = here;
    }
    Event event = here.first();
    if (event != null) {
      size--;
      here.poll(event);
    }
    return event;
  }

  private boolean goesOn(Timeline here) {
    Event next = here.first();
    Event other = others.first();
    return next != null
        && (other == null
            || next.before(other)
            || (next.runsAhead() && lookahead > 0 && next.time() <= horizon()));
  }

  /** What is scheduled from now on, and says no rank, is of none. */
  public void rest() {
    Timeline here = active;
    active = null;
    if (here != null) {
      replace(here);
    }
  }

  /** Carries out what comes before an event that ran ahead: then all is as if none had. */
  public void catchUp() {
    lookahead = 0;
    rest();
    Event next = others.first();
    while (next != null && !isAfterLast(next)) {
      Event event = poll();
      if (event != null) {
        fire(event);
      }
      rest();
      next = others.first();
    }
    clock = Math.max(clock, lastTime);
  }

  private boolean isAfterLast(Event event) {
    return event.time() != lastTime ? event.time() > lastTime : isLater(event);
  }
}
