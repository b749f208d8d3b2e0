package dev.doorbell.verbs;

import dev.doorbell.core.hca.CompletionChannel;
import dev.doorbell.core.hca.CompletionQueue;
import dev.doorbell.core.hca.Errno;
import dev.doorbell.core.hca.HcaException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** Completion events of queues that firmware made. */
final class DevxChannel implements CompletionChannel {
  private final Mlx5Hca hca;
  private final EventChannel events;

  /** By number, which is the cookie of a queue's events. */
  private final Map<Long, DevxCompletionQueue> queues = new ConcurrentHashMap<>();

  DevxChannel(Mlx5Hca hca) {
    this.hca = hca;
    this.events = EventChannel.open(hca.context);
  }

  Mlx5Hca hca() {
    return hca;
  }

  void add(DevxCompletionQueue queue, DevxObject object) {
    queues.put((long) object.number(), queue);
    events.subscribe(object, EventChannel.COMPLETION, object.number());
  }

  void remove(DevxCompletionQueue queue) {
    queues.remove((long) queue.number());
  }

  @Override
  public @Nullable CompletionQueue poll() {
    for (long number = events.poll(); number != EventChannel.NOTHING; number = events.poll()) {
      CompletionQueue queue = queues.get(number);
      // None: it was closed before anybody looked.
      if (queue != null) {
        return queue;
      }
    }
    return null;
  }

  @Override
  public void close() {
    if (!queues.isEmpty()) {
      throw new HcaException(
          "cannot close the completion channel: %d completion queue(s) still use it; close them first"
              .formatted(queues.size()),
          Errno.EBUSY);
    }
    closeNow();
  }

  /** The device closes. */
  void closeNow() {
    hca.closed(this);
    events.close();
  }
}
