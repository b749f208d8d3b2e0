package dev.doorbell.core.fabric.explore;

/** Waits for a store to a word. */
@FunctionalInterface
interface Watcher {
  void stored();
}
