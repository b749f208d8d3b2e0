package dev.doorbell.core.gpu;

/** A GPU refused or failed something. The message says what, where, and what to do. */
public final class GpuException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public GpuException(String message) {
    super(message);
  }

  public GpuException(String message, Throwable cause) {
    super(message, cause);
  }
}
