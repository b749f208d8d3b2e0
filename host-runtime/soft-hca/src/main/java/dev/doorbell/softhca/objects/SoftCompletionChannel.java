package dev.doorbell.softhca.objects;

import dev.doorbell.core.hca.CompletionChannel;
import dev.doorbell.core.hca.CompletionQueue;
import dev.doorbell.core.hca.HcaException;
import dev.doorbell.softhca.device.HcaErrno;
import dev.doorbell.softhca.device.HcaServices;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/** Events of completion queues, oldest first. */
public final class SoftCompletionChannel implements CompletionChannel {
  private final HcaServices hca;
  private final ArrayDeque<SoftCompletionQueue> events = new ArrayDeque<>();
  private int users;

  public SoftCompletionChannel(HcaServices hca) {
    this.hca = hca;
  }

  public HcaServices hca() {
    return hca;
  }

  @Override
  public synchronized @Nullable CompletionQueue poll() {
    return events.poll();
  }

  synchronized void post(SoftCompletionQueue queue) {
    events.add(queue);
  }

  synchronized void use() {
    users++;
  }

  /** The queue is closed: its events are dropped. */
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
