package dev.doorbell.verbs.devx;

import dev.doorbell.core.hca.AsyncEvent;
import dev.doorbell.verbs.device.DeviceContext;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Asynchronous events of queues that firmware created. */
public final class QueueEvents implements AutoCloseable {
  private final EventChannel channel;

  QueueEvents(DeviceContext context) {
    this.channel = EventChannel.open(context);
  }

  void subscribeQueuePair(DevxObject object) {
    subscribe(
        object,
        AsyncEvent.Type.QP_FATAL,
        AsyncEvent.Type.QP_REQUEST_ERROR,
        AsyncEvent.Type.QP_ACCESS_ERROR,
        AsyncEvent.Type.COMMUNICATION_ESTABLISHED,
        AsyncEvent.Type.LAST_WQE_REACHED);
  }

  void subscribeCompletionQueue(DevxObject object) {
    subscribe(object, AsyncEvent.Type.CQ_ERROR);
  }

  void subscribeSharedReceives(DevxObject object) {
    subscribe(object, AsyncEvent.Type.SRQ_LIMIT_REACHED, AsyncEvent.Type.SRQ_ERROR);
  }

  /** The cookie holds type and object number, so that events need no data. */
  private void subscribe(DevxObject object, AsyncEvent.Type... events) {
    for (AsyncEvent.Type event : events) {
      channel.subscribe(
          object, event.mlx5(), (long) event.verbs() << Integer.SIZE | object.number());
    }
  }

  public @Nullable AsyncEvent poll() {
    long cookie = channel.poll();
    return cookie == EventChannel.NOTHING
        ? null
        : new AsyncEvent(
            Objects.requireNonNull(AsyncEvent.Type.ofVerbs((int) (cookie >>> Integer.SIZE))),
            (int) cookie);
  }

  @Override
  public void close() {
    channel.close();
  }
}
