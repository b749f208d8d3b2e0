package dev.doorbell.core.fabric.timed;

import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/** Where completions queue for one route: one piece after another, as the links take them. */
final class Completer extends Event {
  /** Puts one piece of completions on the links. */
  @FunctionalInterface
  interface Answer {
    /** Sends at {@code now}; returns when the next may follow. */
    long send(long now);
  }

  private final TimedFabric fabric;
  private final ArrayDeque<Answer> waiting = new ArrayDeque<>();
  private long free;

  Completer(TimedFabric fabric) {
    this.fabric = fabric;
  }

  /** Answers now, or in turn. */
  void answer(Answer answer) {
    waiting.add(answer);
    if (!scheduled()) {
      fire();
    }
  }

  @Override
  void fire() {
    long now = fabric.clock();
    while (free <= now) {
      @Nullable Answer next = waiting.poll();
      if (next == null) {
        return;
      }
      free = next.send(now);
    }
    if (!waiting.isEmpty()) {
      fabric.queue().schedule(this, free);
    }
  }
}
