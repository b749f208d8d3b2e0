package dev.doorbell.ptxvm.engine;

/** A thread did something that stops its kernel. The message says what; where is added later. */
final class Fault extends RuntimeException {
  private static final long serialVersionUID = 1L;

  Fault(String message) {
    super(message, null, false, false);
  }
}
