package dev.doorbell.push;

import dev.doorbell.core.fabric.Completion;
import dev.doorbell.core.memory.RawMemory;
import dev.doorbell.core.push.generated.PushCredit;

/**
 * The credit of one ring: two absolute indices in GPU memory, written when enough has been released
 * or for long enough, and again a few times later, since a write may be lost.
 */
final class Credit implements Completion {
  private static final int REPEATS = 3;

  private final SendRing ring;
  private final PushEngine engine;
  private final long address;
  private long released;
  private long acknowledged;
  private long previousReleased;
  private long previousAcknowledged;
  private long writes;
  private int repeats;
  private boolean timing;

  Credit(SendRing ring, PushEngine engine, long address) {
    this.ring = ring;
    this.engine = engine;
    this.address = address;
    this.released = ring.shape.first();
    this.acknowledged = released;
  }

  /** The ring has moved on. */
  void changed() {
    long news = Math.max(ring.released() - released, ring.unacknowledged() - acknowledged);
    if (news >= engine.options.credits().messages()) {
      write();
    } else if (!timing) {
      time(engine.options.credits().nanos());
    }
  }

  private void write() {
    previousReleased = released;
    previousAcknowledged = acknowledged;
    released = ring.released();
    acknowledged = ring.unacknowledged();
    repeats = 0;
    put(released, acknowledged);
    if (engine.options.mistakes().repeatOldCredit()) {
      put(previousReleased, previousAcknowledged);
    }
    if (!timing) {
      time(engine.options.credits().nanos());
    }
  }

  private void put(long releasedIndex, long acknowledgedIndex) {
    int lose = engine.options.mistakes().loseCredit();
    if (lose > 0 && writes++ % lose == lose - 1) {
      ring.event(PushEvent.Kind.CREDIT_LOST, releasedIndex);
      return;
    }
    RawMemory.putLong(engine.scratch + PushCredit.RELEASED, releasedIndex);
    RawMemory.putLong(engine.scratch + PushCredit.ACKNOWLEDGED, acknowledgedIndex);
    engine.port.write(engine.scratch, address, PushCredit.BYTES, false);
    ring.event(PushEvent.Kind.CREDITED, releasedIndex);
  }

  private void time(long nanos) {
    timing = true;
    engine.port.timer(nanos, this);
  }

  @Override
  public void completed(boolean ok) {
    timing = false;
    if (ring.released() != released || ring.unacknowledged() != acknowledged) {
      write();
    } else if (repeats < REPEATS) {
      repeats++;
      put(released, acknowledged);
      time(engine.options.credits().nanos() << repeats);
    }
  }
}
