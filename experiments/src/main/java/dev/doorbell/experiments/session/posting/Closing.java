package dev.doorbell.experiments.session.posting;

import java.util.Deque;

/** Closes what a point has opened, the latest first. */
final class Closing {
  private Closing() {}

  static void all(Deque<? extends AutoCloseable> open) {
    while (!open.isEmpty()) {
      try {
        open.pop().close();
      } catch (RuntimeException e) {
        throw e;
      } catch (Exception e) {
        throw new IllegalStateException("a part of a world could not be closed", e);
      }
    }
  }
}
