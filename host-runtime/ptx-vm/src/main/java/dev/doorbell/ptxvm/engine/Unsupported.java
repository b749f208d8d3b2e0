package dev.doorbell.ptxvm.engine;

/** An instruction that this engine does not know, or a form of it. Becomes a refusal at load. */
final class Unsupported extends Exception {
  private static final long serialVersionUID = 1L;

  Unsupported(String reason) {
    super(reason, null, false, false);
  }
}
