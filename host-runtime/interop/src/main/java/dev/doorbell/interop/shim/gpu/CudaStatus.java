package dev.doorbell.interop.shim.gpu;

import dev.doorbell.core.uverbs.generated.CudaCodes;
import java.util.regex.Pattern;

/** Error codes of {@code cuda.h}, most of which are those of {@code driver_types.h} as well. */
final class CudaStatus extends CudaCodes {
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
