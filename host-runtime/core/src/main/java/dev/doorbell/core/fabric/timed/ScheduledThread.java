package dev.doorbell.core.fabric.timed;

import dev.doorbell.core.agent.Agent;
import dev.doorbell.core.fabric.ThreadPort;
import org.jspecify.annotations.Nullable;

/**
 * A thread with a clock of its own: when it runs, when it sleeps, and what wakes it. It runs ahead
 * of the world until something else would happen first; then its next access waits for its turn, so
 * that memory sees all accesses in the order of their times.
 */
abstract class ScheduledThread extends ThreadPort {
  private static final int BUDGET = 512;

  /** Where a thread that is not running is. */
  private enum Sleep {
    /** It runs, or its turn is scheduled. */
    AWAKE,
    /** A remote access is under way. */
    ACCESS,
    /** It polls in vain. */
    POLL,
    /** Its agent had nothing to do. */
    IDLE
  }

  /** Counts up with every port that is attached. */
  final long number;

  /** Picoseconds on this thread's clock. */
  long time;

  final TimedFabric fabric;
  final Place place;
  private final Agent agent;
  final Polls polls = new Polls();
  private final Turn turn = new Turn();
  private Sleep sleep = Sleep.AWAKE;
  private boolean attached = true;
  private boolean returnedFromPoll;

  /** The address of the remote access that the thread waits for. */
  private long awaited;

  /** The thread's turn to run. */
  private final class Turn extends Event {
    @Override
    void fire() {
      takeTurn(time);
    }
  }

  ScheduledThread(TimedFabric fabric, Place place, Agent agent, long number) {
    this.number = number;
    this.fabric = fabric;
    this.place = place;
    this.agent = agent;
    this.time = fabric.clock();
    fabric.queue().schedule(turn, time);
  }

  final Agent agent() {
    return agent;
  }

  /** The thread has ended: it is not stepped again. */
  final void leave() {
    attached = false;
    leaveBed();
    fabric.queue().remove(turn);
  }

  private void takeTurn(long now) {
    if (sleep == Sleep.POLL) {
      // Woken by a write this is no longer in the lists, woken by the cap it still is.
      polls.expired(now);
      returnedFromPoll = true;
    }
    leaveBed();
    time = Math.max(time, now);
    long before = time;
    parked = false;
    fabric.running(this);
    // An agent that throws is stepped again, as everywhere.
    int work = 1;
    try {
      work = agent.step(BUDGET);
    } finally {
      fabric.running(null);
      settle(work, before);
    }
  }

  private void settle(int work, long before) {
    if (!attached || parked) {
      return;
    }
    if (work > 0) {
      if (time == before) {
        time += place.shortestTurn;
      }
      fabric.queue().schedule(turn, time);
    } else if (!turn.scheduled()) {
      if (!polls.idle()) {
        time += place.shortestTurn;
        fabric.queue().schedule(turn, time);
        return;
      }
      sleep = Sleep.IDLE;
      polls.register(fabric.watches(), this);
      place.fellAsleep(this);
    }
  }

  private void leaveBed() {
    if (sleep == Sleep.IDLE) {
      place.wokeUp(this);
      polls.interrupted();
    } else if (sleep == Sleep.POLL) {
      fabric.polling(-1);
    }
    if (sleep != Sleep.AWAKE) {
      polls.unregister(fabric.watches(), this);
    }
    sleep = Sleep.AWAKE;
  }

  /** What the thread waits for may have happened at {@code when}. */
  final void wake(long when) {
    switch (sleep) {
      case IDLE -> {
        leaveBed();
        fabric.queue().schedule(turn, Math.max(time, when));
      }
      case POLL -> {
        long resume = polls.resumption(Math.max(time, when));
        if (resume < turn.time) {
          polls.unregister(fabric.watches(), this);
          polls.written();
          fabric.queue().schedule(turn, resume);
        }
      }
      default -> {}
    }
  }

  /** True when the access has to be repeated at the thread's next turn. */
  final boolean held() {
    if (sleep != Sleep.AWAKE) {
      parked = true;
      return true;
    }
    if (time > fabric.queue().nextTime()) {
      parked = true;
      fabric.queue().schedule(turn, time);
      return true;
    }
    parked = false;
    returnedFromPoll = false;
    return false;
  }

  /** The thread waits for a remote access to {@code address}; {@link #answered} ends it. */
  final void awaitAnswer(long address) {
    sleep = Sleep.ACCESS;
    awaited = address;
    parked = true;
  }

  /** The answer that the thread waits for will be here at {@code when}. */
  final void answered(long when) {
    if (attached) {
      fabric.queue().schedule(turn, when);
    }
  }

  @Override
  public final void executed(int instructions) {
    time += instructions * place.instruction;
  }

  @Override
  public final void spend(long nanos) {
    time += nanos * TimedFabric.PICOS;
  }

  @Override
  public final void pollFailed(long atMostNanos) {
    if (sleep != Sleep.AWAKE) {
      parked = true;
      return;
    }
    if (returnedFromPoll || !polls.repeated()) {
      returnedFromPoll = false;
      parked = turn.scheduled();
      return;
    }
    long cap = polls.cap(atMostNanos, time);
    sleep = Sleep.POLL;
    fabric.polling(1);
    parked = true;
    polls.register(fabric.watches(), this);
    fabric.queue().schedule(turn, time + cap);
  }

  /** When the last of those that meet has come. */
  private static final class Meeting {
    private long time;
  }

  @Override
  public final Object arrive(@Nullable Object meeting) {
    Meeting met = meeting instanceof Meeting known ? known : new Meeting();
    met.time = Math.max(met.time, time);
    return met;
  }

  /** Those that have met go on at one instant: lanes that part would load and store apart. */
  @Override
  public final void leave(@Nullable Object meeting) {
    if (meeting instanceof Meeting met) {
      time = met.time;
      if (turn.scheduled()) {
        fabric.queue().schedule(turn, time);
      }
    }
  }

  @Override
  public final long now() {
    return time / TimedFabric.PICOS;
  }

  /** What the thread waits for, or null when it runs. */
  final @Nullable String waitsFor() {
    return switch (sleep) {
      case AWAKE -> null;
      case ACCESS -> "an access to " + fabric.memory().describe(awaited, 1);
      case POLL -> "a write " + polls.describe(fabric.memory());
      case IDLE -> "something to do";
    };
  }

  /** True for a thread that waits for what nobody will do, as far as one can tell. */
  final boolean hopeless() {
    return sleep == Sleep.IDLE || (sleep == Sleep.POLL && polls.hopeless());
  }
}
