package dev.doorbell.verbs.posted;

/** A queue pair, as the completion queues that it completes into need it. */
interface CompletionUser {
  /** The queue pair's number. */
  int number();

  /** A completion of the provider: {@code struct ibv_wc} at native address {@code wc}. */
  void onCompletion(long wc);

  /** Brings the queue pair to ERR, at the provider too: a completion queue has overrun. */
  void fail();
}
