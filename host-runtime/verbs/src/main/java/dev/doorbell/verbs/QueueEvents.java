package dev.doorbell.verbs;

import dev.doorbell.core.hca.AsyncEvent;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Asynchronous events of queues that firmware made. */
final class QueueEvents implements AutoCloseable {
  private static final Map<Integer, AsyncEvent.Type> OF_QUEUE_PAIRS =
      Map.of(
          EventChannel.WQ_FATAL, AsyncEvent.Type.QP_FATAL,
          EventChannel.WQ_REQUEST_ERROR, AsyncEvent.Type.QP_REQUEST_ERROR,
          EventChannel.WQ_ACCESS_ERROR, AsyncEvent.Type.QP_ACCESS_ERROR,
          EventChannel.COMMUNICATION_ESTABLISHED, AsyncEvent.Type.COMMUNICATION_ESTABLISHED,
          EventChannel.LAST_WQE, AsyncEvent.Type.LAST_WQE_REACHED);
  private static final Map<Integer, AsyncEvent.Type> OF_COMPLETION_QUEUES =
      Map.of(EventChannel.CQ_ERROR, AsyncEvent.Type.CQ_ERROR);
  private static final Map<Integer, AsyncEvent.Type> OF_SHARED_RECEIVES =
      Map.of(
          EventChannel.SRQ_LIMIT, AsyncEvent.Type.SRQ_LIMIT_REACHED,
          EventChannel.SRQ_ERROR, AsyncEvent.Type.SRQ_ERROR);

  private static final AsyncEvent.Type[] TYPES = AsyncEvent.Type.values();

  private final EventChannel channel;

  QueueEvents(DeviceContext context) {
    this.channel = EventChannel.open(context);
  }

  void watchQueuePair(DevxObject object) {
    watch(object, OF_QUEUE_PAIRS);
  }

  void watchCompletionQueue(DevxObject object) {
    watch(object, OF_COMPLETION_QUEUES);
  }

  void watchSharedReceives(DevxObject object) {
    watch(object, OF_SHARED_RECEIVES);
  }

  /** The cookie says what happened and to whom, so that events need no data. */
  private void watch(DevxObject object, Map<Integer, AsyncEvent.Type> events) {
    events.forEach(
        (number, type) ->
            channel.subscribe(
                object, number, (long) type.ordinal() << Integer.SIZE | object.number()));
  }

  @Nullable AsyncEvent poll() {
    long cookie = channel.poll();
    return cookie == EventChannel.NOTHING
        ? null
        : new AsyncEvent(TYPES[(int) (cookie >>> Integer.SIZE)], (int) cookie);
  }

  @Override
  public void close() {
    channel.close();
  }
}
