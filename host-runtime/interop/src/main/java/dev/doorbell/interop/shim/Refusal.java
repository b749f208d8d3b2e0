package dev.doorbell.interop.shim;

/** A command is answered with an error number. */
final class Refusal extends Exception {
  private static final long serialVersionUID = 1L;

  private final int errno;

  Refusal(int errno) {
    super("errno " + errno, null, false, false);
    this.errno = errno;
  }

  int errno() {
    return errno;
  }
}
