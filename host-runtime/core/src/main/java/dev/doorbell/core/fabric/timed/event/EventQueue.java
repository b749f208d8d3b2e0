package dev.doorbell.core.fabric.timed.event;

import dev.doorbell.core.fabric.timed.event.Simulation.Clock;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The clock and the events to come of one logical process: what shares memory and links, and
 * reaches others by messages alone. Those of one moment happen in the order in which they were
 * scheduled. {@link Simulation} says whether all queues take turns in the order of time or run
 * beside each other. Nothing is allocated for an event.
 */
public final class EventQueue {
  /** Its events, or those of all queues while these take turns. */
  private Timeline timeline;

  /** Its time and its events while it runs beside others. */
  final Clock own = new Clock();

  final Timeline ownEvents = new Timeline();

  private Clock clock;
  private boolean beside;

  /** Its events from here on wait for the next window. */
  private long bound;

  /** The host thread that carries out its events of this window; null between windows. */
  private @Nullable Thread runner;

  private boolean stopped;

  /** Tasks that its events have left between two windows. */
  private final List<Runnable> deferred = new ArrayList<>();

  /** Events of other queues that its own have scheduled in this window, and these queues. */
  private final List<Event> sent = new ArrayList<>();

  private final List<EventQueue> receivers = new ArrayList<>();
  private @Nullable Throwable thrown;

  EventQueue(Clock clock, Timeline timeline) {
    this.clock = clock;
    this.timeline = timeline;
  }

  /** The current virtual time in picoseconds, from 0. */
  public long clock() {
    return clock.time;
  }

  /**
   * Returns true if it runs beside other queues: then what happens at one instant in different ones
   * has no order.
   */
  public boolean runsBeside() {
    return beside;
  }

  /** Up to when nothing happens that an event of this queue, which is being fired, could notice. */
  public long quietUntil() {
    return beside ? Math.min(timeline.nextTime(), bound - 1) : timeline.nextTime();
  }

  /** Schedules an event, or moves one that is scheduled already. */
  public void schedule(Event event, long time) {
    requireRunner();
    remove(event);
    Clock now = clock;
    event.schedule(time, now.time, now.scheduled++);
    add(event);
  }

  /** Adds an event that is in no queue. */
  void add(Event event) {
    event.at = this;
    clock.size++;
    timeline.add(event);
  }

  /** Takes an event out; nothing when it is not scheduled. */
  public void remove(Event event) {
    EventQueue from = event.at;
    if (from != null && event.scheduled()) {
      clock.size--;
      from.timeline.remove(event);
    }
  }

  /**
   * Schedules an event of another queue.
   *
   * @param delay picoseconds from now on: at least the lookahead where queues run beside each other
   */
  public void send(EventQueue to, Event event, long delay) {
    if (!beside || to.equals(this)) {
      to.schedule(event, clock.time + delay);
      return;
    }
    requireRunner();
    long time = clock.time + delay;
    if (time < bound) {
      throw new IllegalStateException(
          "an event reaches another rank after %d ps, sooner than was promised".formatted(delay));
    }
    event.schedule(time, clock.time, 0);
    sent.add(event);
    receivers.add(to);
  }

  /**
   * Runs what other queues must not run beside: at once, or, where they do, behind the event that
   * is being fired and before the next one of this queue.
   */
  public void exclusively(Runnable task) {
    if (runner == null) {
      task.run();
    } else {
      deferred.add(task);
      stopped = true;
    }
  }

  /** Counts threads that sleep between polls; each has an event. */
  public void polling(int change) {
    clock.polling += change;
  }

  /** Counts writes under way. */
  public void underWay(int change) {
    clock.underWay += change;
  }

  /** Threads of one queue do not touch another one: what is between them is sent. */
  private void requireRunner() {
    Thread running = runner;
    if (running != null && !running.equals(Thread.currentThread())) {
      throw new IllegalStateException("another rank's event was scheduled, not sent");
    }
  }

  void runBeside(boolean others, Clock now, Timeline events) {
    beside = others;
    clock = now;
    timeline = events;
  }

  /** The time of its next event, or {@link Long#MAX_VALUE}. */
  public long nextTime() {
    return timeline.nextTime();
  }

  /** Carries out its events before {@code end}, or up to one that leaves a task. */
  void run(long end) {
    bound = end;
    stopped = false;
    Clock now = clock;
    runner = Thread.currentThread();
    try {
      Event event = timeline.first();
      while (event != null && event.time() < end && !stopped) {
        timeline.poll(event);
        now.size--;
        now.fired++;
        now.time = event.time();
        event.fire();
        event = timeline.first();
      }
    } catch (Throwable e) { // the host thread that began the window throws it
      thrown = e;
    } finally {
      runner = null;
    }
  }

  /** Returns what an event of the last window threw, once; or null. */
  @Nullable Throwable thrown() {
    Throwable found = thrown;
    thrown = null;
    return found;
  }

  /** Hands over what was sent in the last window, in the order in which it was sent. */
  void deliver() {
    for (int i = 0; i < sent.size(); i++) {
      EventQueue to = receivers.get(i);
      Event event = sent.get(i);
      event.order = to.clock.scheduled++;
      to.add(event);
    }
    sent.clear();
    receivers.clear();
  }

  boolean hasDeferred() {
    return !deferred.isEmpty();
  }

  void runDeferred() {
    while (!deferred.isEmpty()) {
      deferred.removeFirst().run();
    }
  }
}
