package dev.doorbell.softhca.device;

import dev.doorbell.core.fabric.Completion;
import dev.doorbell.core.fabric.DevicePort;
import java.util.ArrayDeque;
import java.util.function.Consumer;

/** Items that a fault delays, first in, first out: a later item never overtakes an earlier one. */
public final class DelayLine<T> {
  private final DevicePort port;
  private final Consumer<T> passOn;
  private final ArrayDeque<Delayed<T>> items = new ArrayDeque<>();
  private final Completion onTimer = ok -> expired();
  private boolean timing;

  private record Delayed<T>(T item, long due) {}

  /**
   * @param passOn receives each item when its delay is over
   */
  public DelayLine(DevicePort port, Consumer<T> passOn) {
    this.port = port;
    this.passOn = passOn;
  }

  public int size() {
    return items.size();
  }

  /** Holds an item for {@code nanos}, and at least until the one before it is passed on. */
  public void add(T item, long nanos) {
    long before = items.isEmpty() ? Long.MIN_VALUE : items.getLast().due;
    items.add(new Delayed<>(item, Math.max(before, port.now() + nanos)));
    startTimer();
  }

  private void startTimer() {
    Delayed<T> first = items.peek();
    if (first != null && !timing) {
      timing = true;
      port.timer(Math.max(0, first.due - port.now()), onTimer);
    }
  }

  private void expired() {
    timing = false;
    long now = port.now();
    Delayed<T> first = items.peek();
    while (first != null && first.due <= now) {
      items.remove();
      passOn.accept(first.item);
      first = items.peek();
    }
    startTimer();
  }

  /** Hands out what is held without passing it on. */
  public void drain(Consumer<T> to) {
    items.forEach(delayed -> to.accept(delayed.item));
    items.clear();
  }
}
