package dev.doorbell.verbs.devx;

import dev.doorbell.core.hca.CompletionChannel;
import dev.doorbell.core.hca.CompletionQueue;
import dev.doorbell.core.hca.Errno;
import dev.doorbell.core.hca.HcaException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Completion events of queues that firmware created. */
public final class DevxChannel implements CompletionChannel {
  private final DevxDevice device;
  private final Consumer<DevxChannel> onClose;
  private final EventChannel events;

  /** Queues by their number, which is the cookie of a queue's events. */
  private final Map<Long, CompletionQueue> queues = new ConcurrentHashMap<>();

  /**
   * @param onClose called when the channel has been closed
   */
  public DevxChannel(DevxDevice device, Consumer<DevxChannel> onClose) {
    this.device = device;
    this.onClose = onClose;
    this.events = EventChannel.open(device.context);
  }

  boolean isOf(DevxDevice other) {
    return device == other;
  }

  void add(CompletionQueue queue, DevxObject object) {
    queues.put((long) object.number(), queue);
    events.subscribe(object, EventChannel.COMPLETION, object.number());
  }

  void remove(CompletionQueue queue) {
    queues.remove((long) queue.number());
  }

  @Override
  public @Nullable CompletionQueue poll() {
    for (long number = events.poll(); number != EventChannel.NOTHING; number = events.poll()) {
      CompletionQueue queue = queues.get(number);
      // Null if the queue was closed after the event.
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

  /** Closes the channel although queues may use it: the device closes. */
  public void closeNow() {
    onClose.accept(this);
    events.close();
  }
}
