package dev.doorbell.core.fabric.explore.model;

/** Hands out what a device writes. */
@FunctionalInterface
public interface WordSource {
  /** The next {@code bytes} bytes, little-endian. */
  long next(int bytes);
}
