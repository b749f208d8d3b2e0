package dev.doorbell.experiments.scenario.world;

import java.util.ArrayDeque;
import java.util.Deque;

/** The parts that a part of a world has opened, and closes with itself: the latest first. */
public final class Owned implements AutoCloseable {
  private final Deque<AutoCloseable> parts = new ArrayDeque<>();

  /** Takes {@code part}, which may stand on all that was taken before it. */
  public <T extends AutoCloseable> T add(T part) {
    parts.push(part);
    return part;
  }

  @Override
  public void close() {
    while (!parts.isEmpty()) {
      AutoCloseable part = parts.pop();
      try {
        part.close();
      } catch (RuntimeException e) {
        throw e;
      } catch (Exception e) {
        throw new IllegalStateException("closing " + part, e);
      }
    }
  }
}
