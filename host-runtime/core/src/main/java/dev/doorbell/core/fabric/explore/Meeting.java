package dev.doorbell.core.fabric.explore;

import dev.doorbell.core.fabric.explore.model.Actor;
import dev.doorbell.core.fabric.explore.model.Clock;

/** A barrier's round, or another meeting: all that arrive before it is left come before that. */
public final class Meeting {
  private final Clock sum = new Clock();

  /** {@code actor} arrives. */
  public void arrive(Actor actor) {
    sum.join(actor.clock);
    actor.nextEpoch();
  }

  /** {@code actor} goes on. */
  public void leave(Actor actor) {
    actor.clock.join(sum);
  }
}
