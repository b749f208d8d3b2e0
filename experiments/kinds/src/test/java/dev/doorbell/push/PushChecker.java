package dev.doorbell.push;

import dev.doorbell.push.PushEvent.PushObserver;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Holds every event against the protocol's invariants; the first that does not hold ends the run
 * with a {@link PushViolation}.
 *
 * <p>It keeps a state for each message in each ring, moved by events alone, and compares their
 * numbers with the indices that engine and producer claim. The producer's indices are looked up in
 * its counters, which may be ahead of what the engine has seen, never behind.
 *
 * <pre>
 * I1  0 <= pi - ci <= entries                          nothing is overrun
 * I2  ci <= una <= tx <= db <= pi                      or una <= ci <= tx where released when sent
 * I3  a slot is read only below db, with its own header
 * I4  every place is free, filling, committed, on the network or released but not seen; they add up
 * I5  no slot is overwritten before its last read, and what arrives is what was committed
 * I6  the producer's idea of ci is never above ci
 * L1  in the end everything is rung, sent, acknowledged, released and known to be
 * </pre>
 */
public final class PushChecker implements PushObserver {
  private static final int HISTORY = 64;

  /** Claims of a ring's producer; looked at, never waited for. */
  public interface Producer {
    /** The next message to fill (pi). */
    long reserved();

    /** The highest credit that it has seen. */
    long seen();
  }

  private enum State {
    FREE,
    COMMITTED,
    SENT,
    ACKNOWLEDGED
  }

  /** One ring. */
  private static final class Watched {
    final SendRing ring;
    final int engine;
    final PushOptions.Release release;
    final @Nullable Producer producer;
    final State[] states;
    long rung;
    long released;
    long credited;

    Watched(SendRing ring, int engine, PushOptions.Release release, @Nullable Producer producer) {
      this.ring = ring;
      this.engine = engine;
      this.release = release;
      this.producer = producer;
      this.states = new State[ring.shape.entries()];
      Arrays.fill(states, State.FREE);
      this.rung = ring.shape.first();
      this.released = rung;
      this.credited = rung;
    }

    State state(long index) {
      return states[(int) (index % states.length)];
    }

    void set(long index, State state) {
      states[(int) (index % states.length)] = state;
    }

    int count(State state) {
      int count = 0;
      for (State each : states) {
        count += each == state ? 1 : 0;
      }
      return count;
    }
  }

  private final List<Watched> watched = new ArrayList<>();
  private final Deque<PushEvent> history = new ArrayDeque<>();
  private final Map<PushEvent.Kind, Long> counts = new EnumMap<>(PushEvent.Kind.class);

  /**
   * Watches a ring.
   *
   * @param producer null where its counters cannot be looked at without disturbing it
   */
  public void watch(PushEngine engine, SendRing ring, @Nullable Producer producer) {
    watched.add(new Watched(ring, engine.number(), engine.options.release(), producer));
  }

  public long count(PushEvent.Kind kind) {
    return counts.getOrDefault(kind, 0L);
  }

  @Override
  public void happened(PushEvent event) {
    counts.merge(event.kind(), 1L, Long::sum);
    if (history.size() == HISTORY) {
      history.remove();
    }
    history.add(event);
    Watched at = find(event);
    if (at != null) {
      move(at, event);
      compare(at);
    }
  }

  private @Nullable Watched find(PushEvent event) {
    for (Watched each : watched) {
      if (each.engine == event.engine() && each.ring.number() == event.ring()) {
        return each;
      }
    }
    return null;
  }

  /** Moves the states of messages as the event says. */
  private void move(Watched at, PushEvent event) {
    switch (event.kind()) {
      case DOORBELL, TORN_DOORBELL -> {
        for (; at.rung < event.rung(); at.rung++) {
          require(
              at.state(at.rung) == State.FREE,
              "I1",
              "message %d is rung for while its place is still %s"
                  .formatted(at.rung, at.state(at.rung)));
          at.set(at.rung, State.COMMITTED);
        }
      }
      case READ -> read(at, event.index());
      case TRANSMITTED -> {
        require(
            at.state(event.index()) == State.COMMITTED,
            "I2",
            "message %d was sent while %s".formatted(event.index(), at.state(event.index())));
        at.set(event.index(), State.SENT);
      }
      case ACKNOWLEDGED -> {
        if (at.release == PushOptions.Release.ACKNOWLEDGED) {
          require(
              at.state(event.index()) == State.SENT,
              "I2",
              "message %d was acknowledged while %s"
                  .formatted(event.index(), at.state(event.index())));
          at.set(event.index(), State.ACKNOWLEDGED);
        }
      }
      case RELEASED -> release(at, event.index());
      case CREDITED -> at.credited = Math.max(at.credited, event.index());
      case CORRUPT ->
          throw violation(
              "I5", "message %d arrived with bytes that nobody committed".formatted(event.index()));
      default -> {
        // Says nothing about slots.
      }
    }
  }

  private void read(Watched at, long index) {
    require(index < at.rung, "I3", "message %d was read above the doorbell".formatted(index));
    require(
        at.state(index) != State.FREE || at.released <= index,
        "I5",
        "message %d was read after its slot was given back".formatted(index));
    Producer producer = at.producer;
    if (producer != null) {
      long reserved = producer.reserved();
      require(
          reserved <= index + at.ring.shape.entries(),
          "I5",
          "message %d was read when message %d had its slot already"
              .formatted(index, reserved - 1));
    }
  }

  private void release(Watched at, long below) {
    State needed = at.release == PushOptions.Release.ACKNOWLEDGED ? State.ACKNOWLEDGED : State.SENT;
    for (; at.released < below; at.released++) {
      require(
          at.state(at.released) == needed,
          "I2",
          "the slot of message %d was given back while %s"
              .formatted(at.released, at.state(at.released)));
      at.set(at.released, State.FREE);
    }
  }

  /** Compares the claims with each other and with the states. */
  private void compare(Watched at) {
    SendRing ring = at.ring;
    int entries = ring.shape.entries();
    long rung = ring.rung();
    long sent = ring.transmitted();
    long arrived = ring.unacknowledged();
    long free = ring.released();
    Producer producer = at.producer;
    long reserved = producer == null ? rung : producer.reserved();
    long seen = producer == null ? at.credited : producer.seen();
    require(
        reserved - free >= 0 && reserved - free <= entries,
        "I1",
        "pi %d, ci %d, %d entries".formatted(reserved, free, entries));
    boolean retained = at.release == PushOptions.Release.ACKNOWLEDGED;
    boolean ordered =
        retained
            ? free <= arrived && arrived <= sent && sent <= rung
            : arrived <= free && free <= sent && sent <= rung;
    require(
        ordered && rung <= reserved,
        "I2",
        "ci %d, una %d, tx %d, db %d, pi %d".formatted(free, arrived, sent, rung, reserved));
    require(seen <= free, "I6", "the producer has seen %d of ci %d".formatted(seen, free));
    long committed = rung - sent;
    long network = sent - free;
    require(
        at.count(State.COMMITTED) == committed
            && at.count(State.SENT) + at.count(State.ACKNOWLEDGED) == network
            && at.count(State.FREE) == entries - committed - network
            && entries - (reserved - seen) >= 0
            && reserved - rung <= at.count(State.FREE),
        "I4",
        "%d committed, %d on the network, %d filling, %d released and not seen of %d; by events %d, %d and %d free"
            .formatted(
                committed,
                network,
                reserved - rung,
                free - seen,
                entries,
                at.count(State.COMMITTED),
                at.count(State.SENT) + at.count(State.ACKNOWLEDGED),
                at.count(State.FREE)));
  }

  /**
   * To be called when the producers have ended or given up: everything must have come to an end.
   */
  public void finish() {
    for (Watched at : watched) {
      SendRing ring = at.ring;
      Producer producer = at.producer;
      long reserved = producer == null ? ring.rung() : producer.reserved();
      boolean done =
          reserved == ring.rung()
              && reserved == ring.transmitted()
              && reserved == ring.unacknowledged()
              && reserved == ring.released()
              && reserved == at.credited;
      require(done, "L1", "pi %d, credit %d, %s".formatted(reserved, at.credited, ring.state()));
    }
  }

  private void require(boolean holds, String invariant, String what) {
    if (!holds) {
      throw violation(invariant, what);
    }
  }

  private PushViolation violation(String invariant, String what) {
    return new PushViolation(invariant, what, List.copyOf(history));
  }

  /**
   * An invariant of the push protocol does not hold. Its message ends with what happened before.
   */
  public static final class PushViolation extends IllegalStateException {
    private static final long serialVersionUID = 1L;

    private final String invariant;

    PushViolation(String invariant, String what, List<PushEvent> history) {
      super(text(invariant, what, history));
      this.invariant = invariant;
    }

    /** Name of the invariant: I1 to I6, or L1. */
    public String invariant() {
      return invariant;
    }

    private static String text(String invariant, String what, List<PushEvent> history) {
      StringBuilder text = new StringBuilder(invariant).append(" does not hold: ").append(what);
      text.append("\nwhat happened before, last first:");
      for (PushEvent event : history.reversed()) {
        text.append("\n  ").append(event);
      }
      return text.toString();
    }
  }
}
