package dev.doorbell.softhca;

import dev.doorbell.softhca.objects.QueuePairContext;
import dev.doorbell.softhca.objects.ReceiveSource;
import org.jspecify.annotations.Nullable;

/**
 * What stands before queue pairs of the HCA whose work requests arrive in another format than
 * mlx5's: it turns them into requests of one of the queue pairs, and completions back.
 */
abstract class FrontEnd {
  /**
   * Makes whatever progress is possible; called when the first of its queue pairs runs.
   *
   * @return work done, about in work requests
   */
  abstract int run();

  /** Where one of its queue pairs takes receives from; null without receives. */
  abstract @Nullable ReceiveSource receives(QueuePairContext queuePair);

  /** One of its queue pairs is in error. */
  abstract void onError();
}
