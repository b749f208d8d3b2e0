package dev.doorbell.softhca.queuepair;

import dev.doorbell.softhca.objects.QueuePairContext;
import dev.doorbell.softhca.objects.ReceiveSource;
import org.jspecify.annotations.Nullable;

/**
 * What stands before queue pairs of the HCA whose work requests arrive in another format than
 * mlx5's: it turns them into requests of one of the queue pairs, and completions back.
 */
public abstract class FrontEnd {
  /**
   * Makes whatever progress is possible; called when the first of its queue pairs runs.
   *
   * @return work done, about in work requests
   */
  public abstract int run();

  /** Where one of its queue pairs takes receives from; null without receives. */
  public abstract @Nullable ReceiveSource receives(QueuePairContext queuePair);

  /** One of its queue pairs is in error. */
  public abstract void onError();
}
