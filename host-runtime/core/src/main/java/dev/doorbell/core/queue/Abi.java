package dev.doorbell.core.queue;

import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.queue.generated.AbiConstants;
import dev.doorbell.core.queue.generated.QueuePairView;

/** Status words of abi.h, and computations on its structures. */
public final class Abi extends AbiConstants {
  private Abi() {}

  /** Explains a status word. */
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

  /** Returns a queue pair with commands for the CPU in place of WQEs. */
  public static QueuePairView proxied(QueuePairView view, long queue) {
    return view.withCommands(queue).withFlags(view.flags() | QueuePairView.FLAG_PROXY);
  }

  /**
   * Returns the bytes to allocate, and to zero, for the counters of a send ring of {@code
   * sendBlocks}: {@code struct doorbell_counters}, and behind it a 64-bit mark for each block.
   */
  public static long countersBytes(int sendBlocks) {
    return QueuePairView.COUNTERS_BYTES + (long) Long.BYTES * sendBlocks;
  }

  /**
   * Returns the blocks that kernels found completed, by {@code struct doorbell_counters}: the
   * larger of {@code completed} and {@code seen}. Exact where no kernel runs.
   */
  public static long completedBlocks(Memory counters) {
    return Math.max(
        counters.getLong(QueuePairView.COUNTERS_COMPLETED),
        counters.getLong(QueuePairView.COUNTERS_SEEN));
  }
}
