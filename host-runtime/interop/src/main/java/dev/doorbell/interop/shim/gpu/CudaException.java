package dev.doorbell.interop.shim.gpu;

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

  int status() {
    return status;
  }
}
