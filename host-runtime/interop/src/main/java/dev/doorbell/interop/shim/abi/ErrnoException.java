package dev.doorbell.interop.shim.abi;

import org.jspecify.annotations.Nullable;

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

  /** Returns {@code value}; throws {@code errno} if there is none. */
  public static <T> T present(@Nullable T value, int errno) throws ErrnoException {
    if (value == null) {
      throw new ErrnoException(errno);
    }
    return value;
  }

  public int errno() {
    return errno;
  }
}
