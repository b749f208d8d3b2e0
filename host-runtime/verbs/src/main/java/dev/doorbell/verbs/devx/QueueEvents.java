package dev.doorbell.verbs.devx;

import dev.doorbell.core.hca.AsyncEvent;
import dev.doorbell.verbs.device.DeviceContext;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Asynchronous events of queues that firmware created. */
public final class QueueEvents implements AutoCloseable {
  private static final Map<Integer, AsyncEvent.Type> TYPES =
      Map.of(
          EventChannel.WQ_FATAL, AsyncEvent.Type.QP_FATAL,
          EventChannel.WQ_REQUEST_ERROR, AsyncEvent.Type.QP_REQUEST_ERROR,
          EventChannel.WQ_ACCESS_ERROR, AsyncEvent.Type.QP_ACCESS_ERROR,
          EventChannel.COMMUNICATION_ESTABLISHED, AsyncEvent.Type.COMMUNICATION_ESTABLISHED,
          EventChannel.LAST_WQE, AsyncEvent.Type.LAST_WQE_REACHED,
          EventChannel.CQ_ERROR, AsyncEvent.Type.CQ_ERROR,
          EventChannel.SRQ_LIMIT, AsyncEvent.Type.SRQ_LIMIT_REACHED,
          EventChannel.SRQ_ERROR, AsyncEvent.Type.SRQ_ERROR);

  private final EventChannel channel;

  QueueEvents(DeviceContext context) {
    this.channel = EventChannel.open(context);
  }

  void subscribeQueuePair(DevxObject object) {
    subscribe(
        object,
        EventChannel.WQ_FATAL,
        EventChannel.WQ_REQUEST_ERROR,
        EventChannel.WQ_ACCESS_ERROR,
        EventChannel.COMMUNICATION_ESTABLISHED,
        EventChannel.LAST_WQE);
  }

  void subscribeCompletionQueue(DevxObject object) {
    subscribe(object, EventChannel.CQ_ERROR);
  }

  void subscribeSharedReceives(DevxObject object) {
    subscribe(object, EventChannel.SRQ_LIMIT, EventChannel.SRQ_ERROR);
  }

  /** The cookie holds type and object number, so that events need no data. */
  private void subscribe(DevxObject object, int... events) {
    for (int event : events) {
      channel.subscribe(object, event, (long) event << Integer.SIZE | object.number());
    }
  }

  public @Nullable AsyncEvent poll() {
    long cookie = channel.poll();
    return cookie == EventChannel.NOTHING
        ? null
        : new AsyncEvent(
            Objects.requireNonNull(TYPES.get((int) (cookie >>> Integer.SIZE))), (int) cookie);
  }

  @Override
  public void close() {
    channel.close();
  }
}
