package dev.doorbell.verbs.posted;

import dev.doorbell.core.hca.CompletionChannel;
import dev.doorbell.core.hca.CompletionQueue;
import dev.doorbell.core.hca.Errno;
import dev.doorbell.core.hca.HcaException;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;

/** Completion events of the completion queues that Doorbell itself writes. */
public final class PostedChannel implements CompletionChannel {
  private final ConcurrentLinkedQueue<CompletionQueue> events = new ConcurrentLinkedQueue<>();
  private int users;

  void use() {
    users++;
  }

  void unuse(CompletionQueue queue) {
    users--;
    events.removeIf(queue::equals);
  }

  void add(CompletionQueue queue) {
    events.add(queue);
  }

  @Override
  public @Nullable CompletionQueue poll() {
    return events.poll();
  }

  @Override
  public void close() {
    if (users > 0) {
      throw new HcaException(
          "cannot close the completion channel: %d completion queue(s) still use it; close them first"
              .formatted(users),
          Errno.EBUSY);
    }
  }
}
