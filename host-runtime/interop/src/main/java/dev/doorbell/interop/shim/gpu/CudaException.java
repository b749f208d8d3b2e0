package dev.doorbell.interop.shim.gpu;

import dev.doorbell.core.gpu.GpuException;
import java.util.Objects;
import java.util.function.Supplier;
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

  /** Returns what a GPU answers; fails with {@code status} and the reason where it refuses. */
  static <T> T of(int status, Supplier<T> answer) throws CudaException {
    try {
      return answer.get();
    } catch (GpuException e) {
      String reason = status == CudaStatus.NOT_FOUND ? "" : String.valueOf(e.getMessage());
      throw new CudaException(status, reason);
    }
  }

  int status() {
    return status;
  }
}
