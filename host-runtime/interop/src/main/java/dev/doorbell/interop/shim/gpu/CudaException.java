package dev.doorbell.interop.shim.gpu;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** A request that fails with a code of {@link CudaStatus}, and a line for the user where known. */
final class CudaException extends Exception {
  private static final long serialVersionUID = 1L;

  private final int status;

  /**
   * @param message printed by the program's library; empty for nothing
   */
  CudaException(int status, String message) {
    super(message);
    this.status = status;
  }

  static void require(boolean holds, int status) throws CudaException {
    if (!holds) {
      throw new CudaException(status, "");
    }
  }

  /** Returns {@code value}; fails with {@code status} where there is none. */
  static <T> T present(@Nullable T value, int status) throws CudaException {
    require(value != null, status);
    return Objects.requireNonNull(value);
  }

  int status() {
    return status;
  }
}
