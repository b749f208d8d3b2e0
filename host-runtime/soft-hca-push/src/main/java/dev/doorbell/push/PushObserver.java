package dev.doorbell.push;

/** Hears every event of an engine, when it happens. */
@FunctionalInterface
public interface PushObserver {
  /** Nobody listens. */
  PushObserver NONE = event -> {};

  /** One event. May throw to end the run. */
  void happened(PushEvent event);
}
