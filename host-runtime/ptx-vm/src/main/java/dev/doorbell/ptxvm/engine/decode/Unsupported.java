package dev.doorbell.ptxvm.engine.decode;

/**
 * An instruction, or a form of one, that this engine does not implement. Becomes a refusal at load.
 */
public final class Unsupported extends Exception {
  private static final long serialVersionUID = 1L;

  public Unsupported(String reason) {
    super(reason, null, false, false);
  }
}
