package dev.doorbell.core.queue;

import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/** The two integer types of abi.h, and its status words. */
public final class Abi {
  /** {@code DOORBELL_ABI_VERSION}. */
  public static final int VERSION = 2;

  public static final int OK = 0;
  public static final int ERROR_CQE = 1;
  public static final int ERROR_DEADLINE = 2;
  public static final int ERROR_ARGUMENT = 3;
  public static final int ERROR_DATA = 4;
  public static final int ERROR_POISONED = 5;

  static final ValueLayout.OfLong U64 =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  static final ValueLayout.OfInt U32 =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private Abi() {}

  /** What a status word means, for people. */
  public static String statusText(int status) {
    return switch (status) {
      case OK -> "ok";
      case ERROR_CQE -> "error completion";
      case ERROR_DEADLINE -> "deadline passed";
      case ERROR_ARGUMENT -> "operation cannot be expressed";
      case ERROR_DATA -> "received bytes differ from what was sent";
      case ERROR_POISONED -> "queue pair had an error before";
      default -> "unknown status " + status;
    };
  }
}
