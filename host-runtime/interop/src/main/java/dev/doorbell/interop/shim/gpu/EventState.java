package dev.doorbell.interop.shim.gpu;

/** An event: how often it was recorded, and how many of the recordings a stream has reached. */
final class EventState {
  long recorded;
  long reached;
  long nanos;

  boolean isReached() {
    return reached >= recorded;
  }
}
