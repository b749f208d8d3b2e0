package dev.doorbell.core.fabric.timed.link;

import dev.doorbell.core.fabric.timed.event.Event;
import dev.doorbell.core.fabric.timed.event.EventQueue;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/** Where completions queue for one route: one piece after another, as the links take them. */
public final class Completer extends Event {
  /** Puts one piece of completions on the links. */
  @FunctionalInterface
  public interface Answer {
    /** Sends at {@code now}; returns when the next may follow. */
    long send(long now);
  }

  private final EventQueue queue;
  private final ArrayDeque<Answer> waiting = new ArrayDeque<>();
  private long free;

  Completer(EventQueue queue) {
    this.queue = queue;
  }

  /** Answers now, or in turn. */
  public void answer(Answer answer) {
    waiting.add(answer);
    if (!scheduled()) {
      fire();
    }
  }

  @Override
  protected void fire() {
    long now = queue.clock();
    while (free <= now) {
      @Nullable Answer next = waiting.poll();
      if (next == null) {
        return;
      }
      free = next.send(now);
    }
    if (!waiting.isEmpty()) {
      queue.schedule(this, free);
    }
  }
}
