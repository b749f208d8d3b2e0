package dev.doorbell.core.fabric.timed.thread;

import dev.doorbell.core.agent.Agent;
import dev.doorbell.core.fabric.SizedThreadPort;
import dev.doorbell.core.fabric.timed.event.Event;
import dev.doorbell.core.fabric.timed.event.EventQueue;
import dev.doorbell.core.fabric.timed.event.Picos;
import dev.doorbell.core.fabric.timed.event.Simulation.Sleeper;
import dev.doorbell.core.fabric.timed.interconnect.Interconnect;
import dev.doorbell.core.fabric.timed.processor.InstructionPrices;
import dev.doorbell.core.fabric.timed.processor.Processor;
import org.jspecify.annotations.Nullable;

/**
 * A thread with a clock of its own: when it runs, when it sleeps, and what wakes it. It runs ahead
 * of the world until something else would happen first; then its next access that others can notice
 * waits for its turn, so that they see accesses in the order of their times.
 */
abstract class ScheduledThread extends SizedThreadPort implements Sleeper {
  private static final int BUDGET = 512;

  /**
   * Instructions of a turn where ranks run beside each other: what a thread needs is brought into
   * the host's cache once for all of them.
   */
  private static final int BUDGET_BESIDE = 1 << 15;

  /** Place of a thread that is not running. */
  private enum Sleep {
    /** It runs, or its turn is scheduled. */
    AWAKE,
    /** A remote access is under way. */
    ACCESS,
    /** It polls in vain. */
    POLL,
    /** Its next look sees a write. */
    SEES,
    /** Its agent had nothing to do. */
    IDLE
  }

  /** Counts up with every port that is attached. */
  private final long number;

  /** Picoseconds on this thread's clock. */
  long time;

  final ThreadScheduler scheduler;
  final Interconnect interconnect;
  final Processor processor;
  final InstructionPrices prices;
  private final Agent agent;
  private final EventQueue queue;
  final Polls polls;
  private final Turn turn;

  private Sleep sleep = Sleep.AWAKE;
  private boolean attached = true;
  private boolean returnedFromPoll;

  /** The address of the remote access that the thread waits for. */
  private long awaited;

  /** The thread's turn to run. */
  private final class Turn extends Event {
    @Override
    protected void fire() {
      takeTurn(time());
    }
  }

  ScheduledThread(ThreadScheduler scheduler, Processor processor, Agent agent, long number) {
    this.number = number;
    this.scheduler = scheduler;
    this.interconnect = scheduler.interconnect();
    this.processor = processor;
    this.prices = processor.prices;
    this.polls = new Polls(prices.pollsDrift() ? new Looks(interconnect.phases(number)) : null);
    this.agent = agent;
    this.queue = interconnect.queue();
    this.turn = new Turn();
    this.time = queue.clock();
    queue.schedule(turn, time);
  }

  final Agent agent() {
    return agent;
  }

  /** The thread has ended: it is not stepped again. */
  final void leave() {
    attached = false;
    wakeUp();
    queue.remove(turn);
  }

  private void takeTurn(long now) {
    if (sleep == Sleep.POLL || sleep == Sleep.SEES) {
      // Woken by a write this is no longer in the lists, woken by the cap it still is.
      polls.expired(now);
      returnedFromPoll = true;
    }
    wakeUp();
    time = Math.max(time, now);
    long before = time;
    parked = false;
    scheduler.running(this);
    // An agent that throws is stepped again, as everywhere.
    int work = 1;
    try {
      work = agent.step(queue.runsBeside() ? BUDGET_BESIDE : BUDGET);
    } finally {
      scheduler.running(null);
      endTurn(work, before);
    }
  }

  private void endTurn(int work, long before) {
    if (!attached || parked) {
      return;
    }
    if (work > 0) {
      if (time == before) {
        time += prices.shortestTurn();
      }
      queue.schedule(turn, time);
    } else if (!turn.scheduled()) {
      if (!polls.idle()) {
        time += prices.shortestTurn();
        queue.schedule(turn, time);
        return;
      }
      sleep = Sleep.IDLE;
      polls.register(interconnect.watches(), this);
      // A thread of a GPU is woken by its watches alone.
      if (!processor.component.isGpu()) {
        processor.component.addIdle(this);
      }
    }
  }

  private void wakeUp() {
    if (sleep == Sleep.IDLE) {
      if (!processor.component.isGpu()) {
        processor.component.removeIdle(this);
      }
      polls.interrupted();
    } else {
      notInVain();
    }
    if (sleep != Sleep.AWAKE) {
      polls.unregister(interconnect.watches(), this);
    }
    sleep = Sleep.AWAKE;
  }

  private void notInVain() {
    if (sleep == Sleep.POLL) {
      queue.polling(-1);
    }
  }

  @Override
  public final void wake(long when) {
    switch (sleep) {
      case IDLE -> {
        wakeUp();
        queue.schedule(turn, Math.max(time, when));
      }
      case POLL, SEES -> {
        notInVain();
        sleep = Sleep.SEES;
        long resume = polls.resumption(Math.max(time, when));
        if (resume < turn.time()) {
          polls.unregister(interconnect.watches(), this);
          polls.written();
          queue.schedule(turn, resume);
        }
      }
      default -> {}
    }
  }

  /** Wakes the thread if a store from outside of the fabric changed what it polls. */
  public final void lookAgain() {
    if (sleep != Sleep.AWAKE && polls.changed()) {
      wake(queue.clock());
    }
  }

  /** True when the access has to be repeated at the thread's next turn. */
  final boolean held() {
    if (sleep != Sleep.AWAKE) {
      parked = true;
      return true;
    }
    if (time > queue.quietUntil()) {
      parked = true;
      queue.schedule(turn, time);
      return true;
    }
    parked = false;
    returnedFromPoll = false;
    return false;
  }

  /**
   * Does the same as {@link #held}, for an access that no other thread or device can notice and
   * that notices nothing that they do meanwhile: it needs no turn of its own. So the lanes of a
   * warp stay together at their loads, as they do in a GPU.
   */
  final boolean heldUnnoticed() {
    if (sleep != Sleep.AWAKE) {
      return held();
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
      queue.schedule(turn, when);
    }
  }

  @Override
  public final void executed(int instructions) {
    time += instructions * prices.instruction();
  }

  @Override
  public final void stalled(long picos) {
    time += picos;
  }

  @Override
  public final void spend(long nanos) {
    time += nanos * Picos.PER_NANO;
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
    queue.polling(1);
    parked = true;
    polls.register(interconnect.watches(), this);
    queue.schedule(turn, time + cap);
  }

  /** When the last of the threads that meet has arrived. */
  private static final class Meeting {
    private long time;
  }

  @Override
  public final Object arrive(@Nullable Object meeting) {
    Meeting met = meeting instanceof Meeting known ? known : new Meeting();
    met.time = Math.max(met.time, time);
    return met;
  }

  /** Threads that have met go on at one instant: lanes that part would load and store apart. */
  @Override
  public final void leave(@Nullable Object meeting) {
    if (meeting instanceof Meeting met) {
      time = met.time;
      if (turn.scheduled()) {
        queue.schedule(turn, time);
      }
    }
  }

  @Override
  public final long now() {
    return time / Picos.PER_NANO;
  }

  /** The order in which ports were attached. */
  public final long number() {
    return number;
  }

  /** Returns what the thread does and what it waits for, or null when it runs. */
  public final @Nullable String waits() {
    String what =
        switch (sleep) {
          case AWAKE, SEES -> null;
          case ACCESS -> "an access to " + interconnect.memory().describe(awaited, 1);
          case POLL -> "a write " + polls.describe(interconnect.memory());
          case IDLE -> "something to do";
        };
    return what == null ? null : agent.where() + " waits for " + what;
  }

  /** True for a thread that, as far as can be seen, waits for what will not happen. */
  final boolean isDeadlocked() {
    return sleep == Sleep.IDLE || (sleep == Sleep.POLL && polls.isDeadlocked());
  }
}
