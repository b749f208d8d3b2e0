package dev.doorbell.ptxvm.engine.machine;

/** A thread did something that stops its kernel. The message says what; where is added later. */
public final class Fault extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public Fault(String message) {
    super(message, null, false, false);
  }
}
