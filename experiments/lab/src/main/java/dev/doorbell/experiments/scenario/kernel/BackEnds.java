package dev.doorbell.experiments.scenario.kernel;

import dev.doorbell.core.adapter.Adapter;
import dev.doorbell.core.adapter.Promise;
import java.util.Optional;

/**
 * Back ends of the device library in a kernel's PTX. A kernel has them if it defines {@code
 * DOORBELL_BACK_ENDS} before it includes the library; one without them writes mlx5 work requests to
 * whatever queue pair it is given.
 */
public final class BackEnds {
  /** Fix for a kernel without them. */
  public static final String FIX =
      "#define DOORBELL_BACK_ENDS before the first header of the library, and compile it again; or"
          + " use another nic";

  private BackEnds() {}

  /** Returns what the kernel lacks on an adapter, in words; empty if there is nothing. */
  public static Optional<String> lacking(String ptx, Adapter adapter) {
    Promise.Queues queues = adapter.promises().queues();
    return queues == Promise.Queues.MLX5 || has(ptx, queues)
        ? Optional.empty()
        : Optional.of("no back end for %s queues".formatted(Promise.word(queues)));
  }

  /** Every kernel with a back end waits by it, if only for room in the ring. */
  private static boolean has(String ptx, Promise.Queues queues) {
    return ptx.contains("_ZN8doorbell6detail12wait_for_" + Promise.word(queues));
  }
}
