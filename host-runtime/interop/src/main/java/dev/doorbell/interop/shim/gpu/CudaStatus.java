package dev.doorbell.interop.shim.gpu;

import java.util.regex.Pattern;

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

  /** The reason of an access that is refused: "load of 4 bytes at 0x1000: ...". */
  private static final Pattern ACCESS = Pattern.compile("[\\w. ]+ of [\\d,]+ bytes at ");

  private CudaStatus() {}

  /**
   * Returns the code for the end of a kernel.
   *
   * @param message "kernel NAME was stopped: " and the reason
   */
  static int ofFailure(String message, boolean stuck) {
    if (stuck) {
      return LAUNCH_TIMEOUT;
    }
    String reason = message.replaceFirst(".*? was stopped: ", "");
    if (reason.startsWith("assertion ")) {
      return ASSERT;
    }
    if (reason.startsWith("misaligned ")) {
      return MISALIGNED;
    }
    return ACCESS.matcher(reason).lookingAt() ? ILLEGAL_ADDRESS : LAUNCH_FAILED;
  }
}
