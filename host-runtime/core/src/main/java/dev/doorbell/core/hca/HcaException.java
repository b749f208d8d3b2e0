package dev.doorbell.core.hca;

/**
 * The control path of an HCA refused or failed something. The message says what, why, and the fix.
 */
public final class HcaException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final int errno;

  public HcaException(String message) {
    this(message, 0);
  }

  public HcaException(String message, int errno) {
    super(message);
    this.errno = errno;
  }

  /** The operating system's or the verbs library's error number, or 0. */
  public int errno() {
    return errno;
  }
}
