package dev.doorbell.core.gpu;

import java.util.Objects;

/** A GPU refused or failed something. The message says what, where, and what to do. */
public final class GpuException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public GpuException(String message) {
    super(message);
  }

  public GpuException(String message, Throwable cause) {
    super(message, cause);
  }

  /** What, where, and what to do; never absent. */
  @Override
  public String getMessage() {
    return Objects.requireNonNull(super.getMessage());
  }
}
