package dev.doorbell.experiments.collective;

/** A buffer divided into parts of nearly the same size; each begins at a multiple of 16 bytes. */
record Segments(long bytes, int count) {
  private long each() {
    return Call.padded((bytes + count - 1) / count);
  }

  long from(int segment) {
    return Math.min(segment * each(), bytes);
  }

  long to(int segment) {
    return from(segment + 1);
  }

  long bytes(int segment) {
    return to(segment) - from(segment);
  }
}
