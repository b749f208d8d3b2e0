package dev.doorbell.core.fabric.explore.model;

/** Waits for a store to a word. */
@FunctionalInterface
public interface Watcher {
  void stored();
}
