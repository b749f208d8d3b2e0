package dev.doorbell.core.fabric.timed.event;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * The events to come of all queues of a world, and the clock of virtual time.
 *
 * <p>Either they happen one after another, by time, and those of one moment in the order in which
 * they were scheduled. Or, where nothing that one queue does reaches another one in less than a
 * lookahead, in windows of that: each queue carries out its events of a window by itself, on
 * whatever host thread, and what it has sent to others is handed over between two windows, in the
 * order of the queues. What happens when is the same for any number of host threads.
 */
public final class Simulation {
  private final List<EventQueue> queues = new ArrayList<>();
  private final Clock clock = new Clock();

  /** The events of all queues while these take turns. */
  private final Timeline together = new Timeline();

  private boolean beside;

  /** The event carried out last by time, when it was scheduled, and its number. */
  private long lastTime;

  private long lastBorn;
  private long lastOrder;

  /** Another queue; between two runs. */
  public EventQueue newQueue() {
    EventQueue queue = new EventQueue(clock, together);
    queues.add(queue);
    return queue;
  }

  /** The time of all; between two windows that of the next one's beginning. */
  public long clock() {
    return clock.time;
  }

  public void clock(long time) {
    clock.time = time;
  }

  /** Returns the number of events that were carried out. */
  public long fired() {
    return sum(each -> each.fired);
  }

  /** Returns the number of scheduled events. */
  public long size() {
    return beside ? sum(each -> each.size) : clock.size;
  }

  /** Returns the number of threads that sleep between polls; each has an event. */
  public long polling() {
    return beside ? sum(each -> each.polling) : clock.polling;
  }

  public long underWay() {
    return beside ? sum(each -> each.underWay) : clock.underWay;
  }

  private long sum(ToLongFunction<Clock> count) {
    long sum = count.applyAsLong(clock);
    for (EventQueue queue : queues) {
      sum += count.applyAsLong(queue.own);
    }
    return sum;
  }

  /** The time of the next event, or {@link Long#MAX_VALUE}; while queues take turns. */
  public long nextTime() {
    return together.nextTime();
  }

  /** Carries out the next event, or returns false where there is none. */
  public boolean fireNext() {
    Event event = poll();
    if (event == null) {
      return false;
    }
    fire(event);
    return true;
  }

  /** Takes out the next event, or returns null. */
  @Nullable Event poll() {
    Event event = together.first();
    if (event != null) {
      clock.size--;
      together.poll(event);
    }
    return event;
  }

  /** Sets the clock to the time of {@code event}, which was polled, and carries it out. */
  void fire(Event event) {
    clock.time = event.time();
    clock.fired++;
    if (!isBeforeLast(event)) {
      lastTime = event.time();
      lastBorn = event.born;
      lastOrder = event.order;
    }
    event.fire();
  }

  private boolean isBeforeLast(Event event) {
    return event.time() != lastTime
        ? event.time() < lastTime
        : event.isBornBefore(lastBorn, lastOrder);
  }

  /** Carries out what comes before an event that was carried out: then all is in order. */
  public void catchUp() {
    for (Event next = together.first();
        next != null && isBeforeLast(next);
        next = together.first()) {
      fireNext();
    }
    clock.time = Math.max(clock.time, lastTime);
  }

  /** Puts the next event behind others of its moment. */
  public void postpone() {
    Event next = together.first();
    if (next != null) {
      together.remove(next);
      next.schedule(next.time(), clock.time, clock.scheduled++);
      together.add(next);
    }
  }

  /** From now on queues run beside each other. */
  public void part() {
    beside = true;
    for (EventQueue queue : queues) {
      queue.own.time = clock.time;
      queue.own.scheduled = clock.scheduled;
      queue.ownEvents.startAt(clock.time);
      queue.runBeside(true, queue.own, queue.ownEvents);
    }
    together.forEachTaken(
        event -> {
          EventQueue queue = event.at;
          if (queue != null) {
            queue.ownEvents.add(event);
          }
        });
  }

  /** From now on queues take turns, from when the last of them has come to. */
  public void join() {
    beside = false;
    together.startAt(clock.time);
    for (EventQueue queue : queues) {
      clock.time = Math.max(clock.time, queue.own.time);
      clock.add(queue.own);
      queue.runBeside(false, clock, together);
      queue.ownEvents.forEachTaken(together::add);
    }
    // Some queues are behind.
    lastTime = clock.time;
    lastBorn = Long.MAX_VALUE;
  }

  /**
   * Carries out the events of one window, and hands over what they sent.
   *
   * @param start the time of the first of them
   * @param ends where it ends for each queue
   * @param threads that share the work
   * @throws RuntimeException what an event threw: the earliest, when there are several
   */
  public void window(long start, long[] ends, HostThreads threads) {
    threads.forEach(queues.size(), index -> queues.get(index).run(ends[index]));
    for (EventQueue queue : queues) {
      queue.own.time = Math.max(queue.own.time, start);
    }
    queues.forEach(EventQueue::deliver);
    Throwable first = null;
    long when = Long.MAX_VALUE;
    for (EventQueue queue : queues) {
      Throwable thrown = queue.thrown();
      if (thrown != null && queue.own.time < when) {
        first = thrown;
        when = queue.own.time;
      }
    }
    runDeferred();
    switch (first) {
      case null -> {}
      case RuntimeException e -> throw e;
      case Error e -> throw e;
      default -> throw new IllegalStateException(first);
    }
  }

  /** Tasks that must not run beside other queues, in the order of time. */
  private void runDeferred() {
    queues.stream()
        .filter(EventQueue::hasDeferred)
        .sorted(Comparator.comparingLong((EventQueue queue) -> queue.own.time))
        .toList()
        .forEach(EventQueue::runDeferred);
  }

  /** A thread that waits for memory to be written. */
  public interface Sleeper {
    /** Says that what it waits for may have happened at {@code when}, in picoseconds. */
    void wake(long when);
  }

  /**
   * The present, and what is counted beside it: one of all queues where events happen in the order
   * of time, one of each queue where they run beside each other.
   */
  static final class Clock {
    /** Picoseconds. */
    long time;

    /** Counts up with everything that is scheduled. */
    long scheduled;

    /** Events that were carried out. */
    long fired;

    /** Events to come, less those that were scheduled by another clock. */
    long size;

    /** Threads that sleep between polls, likewise. */
    long polling;

    /** Writes under way, likewise. */
    long underWay;

    /** Takes over what {@code other} counted. */
    void add(Clock other) {
      scheduled = Math.max(scheduled, other.scheduled);
      fired += other.fired;
      size += other.size;
      polling += other.polling;
      underWay += other.underWay;
      other.fired = 0;
      other.size = 0;
      other.polling = 0;
      other.underWay = 0;
    }
  }
}
