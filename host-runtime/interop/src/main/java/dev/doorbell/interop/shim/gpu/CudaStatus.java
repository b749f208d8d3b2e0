package dev.doorbell.interop.shim.gpu;

/** Error codes of {@code cuda.h}, most of which are those of {@code driver_types.h} as well. */
final class CudaStatus {
  static final int SUCCESS = 0;
  static final int INVALID_VALUE = 1;
  static final int OUT_OF_MEMORY = 2;
  static final int NO_BINARY = 209;
  static final int INVALID_PTX = 218;
  static final int INVALID_HANDLE = 400;
  static final int NOT_FOUND = 500;
  static final int NOT_READY = 600;
  static final int ILLEGAL_ADDRESS = 700;
  static final int LAUNCH_TIMEOUT = 702;
  static final int ASSERT = 710;
  static final int MISALIGNED = 716;
  static final int LAUNCH_FAILED = 719;

  private CudaStatus() {}

  /** Returns the code for the end of a kernel that the VM describes. */
  static int ofFailure(String message, boolean stuck) {
    if (stuck) {
      return LAUNCH_TIMEOUT;
    }
    if (message.startsWith("assertion ")) {
      return ASSERT;
    }
    if (message.startsWith("misaligned ")) {
      return MISALIGNED;
    }
    return message.contains("trap") || message.contains("barrier")
        ? LAUNCH_FAILED
        : ILLEGAL_ADDRESS;
  }
}
