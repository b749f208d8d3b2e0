package dev.doorbell.interop.shim.abi;

/** A command fails with an error number. */
public final class ErrnoException extends Exception {
  private static final long serialVersionUID = 1L;

  private final int errno;

  public ErrnoException(int errno) {
    super("errno " + errno, null, false, false);
    this.errno = errno;
  }

  /** Throws {@code errno} unless {@code holds}. */
  public static void require(boolean holds, int errno) throws ErrnoException {
    if (!holds) {
      throw new ErrnoException(errno);
    }
  }

  public int errno() {
    return errno;
  }
}
