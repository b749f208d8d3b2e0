package dev.doorbell.softhca;

import dev.doorbell.core.hca.CompletionChannel;
import dev.doorbell.core.hca.CompletionQueue;
import dev.doorbell.core.hca.HcaException;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/** Events of completion queues, oldest first. */
final class SoftCompletionChannel implements CompletionChannel {
  private final SoftHca hca;
  private final ArrayDeque<SoftCompletionQueue> events = new ArrayDeque<>();
  private int users;

  SoftCompletionChannel(SoftHca hca) {
    this.hca = hca;
  }

  SoftHca hca() {
    return hca;
  }

  @Override
  public synchronized @Nullable CompletionQueue poll() {
    return events.poll();
  }

  synchronized void tell(SoftCompletionQueue queue) {
    events.add(queue);
  }

  synchronized void use() {
    users++;
  }

  /** The queue is closed: its events mean nothing any more. */
  synchronized void unuse(SoftCompletionQueue queue) {
    users--;
    while (events.remove(queue)) {
      // Once for every event.
    }
  }

  @Override
  public synchronized void close() {
    if (users > 0) {
      throw new HcaException(
          "cannot close a completion channel of %s: %d completion queue(s) still use it; close them first"
              .formatted(hca.name(), users),
          HcaErrno.EBUSY);
    }
  }
}
