package dev.doorbell.verbs.posted;

import dev.doorbell.core.agent.Agent;
import dev.doorbell.core.mlx5.Doorbell;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Posts what was rung for and reports what was completed, for all queues of a device. Queues come
 * and go on any thread; one thread steps.
 */
public final class PostingEngine implements Agent {
  private final Map<Integer, PostedQueuePair> queuePairs = new ConcurrentHashMap<>();
  private final Map<Integer, PostedCompletionQueue> completionQueues = new ConcurrentHashMap<>();
  private final String name;

  // What is stepped, copied when it changes: the loop allocates nothing.
  private PostedQueuePair[] sending = {};
  private PostedCompletionQueue[] completing = {};

  /**
   * @param name for messages
   */
  public PostingEngine(String name) {
    this.name = name;
  }

  void add(PostedQueuePair queuePair) {
    queuePairs.put(queuePair.number(), queuePair);
    sending = queuePairs.values().toArray(PostedQueuePair[]::new);
  }

  void add(PostedCompletionQueue queue) {
    completionQueues.put(queue.number(), queue);
    completing = completionQueues.values().toArray(PostedCompletionQueue[]::new);
  }

  /** Removes a queue pair or a completion queue; ignores everything else. */
  void remove(AutoCloseable object) {
    switch (object) {
      case PostedQueuePair queuePair -> {
        queuePairs.remove(queuePair.number());
        sending = queuePairs.values().toArray(PostedQueuePair[]::new);
      }
      case PostedCompletionQueue queue -> {
        completionQueues.remove(queue.number());
        completing = completionQueues.values().toArray(PostedCompletionQueue[]::new);
      }
      default -> {}
    }
  }

  boolean isOpen(PostedCompletionQueue queue) {
    return completionQueues.get(queue.number()) == queue;
  }

  /** Handles a store to a doorbell page, on any thread. */
  public void onDoorbell(long value) {
    PostedQueuePair queuePair = queuePairs.get(Doorbell.qpn(value));
    if (queuePair != null) {
      queuePair.ring();
    }
  }

  @Override
  public int step(int budget) {
    int work = 0;
    PostedQueuePair[] queuePairsNow = sending;
    // Receives first, so that a peer of the same process need not send again.
    for (int i = 0; i < queuePairsNow.length; i++) {
      work += queuePairsNow[i].postReceives();
    }
    for (int i = 0; i < queuePairsNow.length; i++) {
      work += queuePairsNow[i].post(budget);
    }
    PostedCompletionQueue[] queuesNow = completing;
    for (int i = 0; i < queuesNow.length; i++) {
      work += queuesNow[i].poll();
    }
    return work;
  }

  @Override
  public String where() {
    return name;
  }
}
