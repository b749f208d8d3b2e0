package dev.doorbell.verbs;

import dev.doorbell.core.hca.AsyncEvent;
import dev.doorbell.verbs.generated.verbs.ibv_async_event;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.Map;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/** Asynchronous events of a device, read without waiting. */
final class AsyncEvents {
  /** {@code struct ibv_qp.qp_num}. */
  static final int QUEUE_PAIR_NUMBER_OFFSET = 52;

  private static final int QUEUE_PAIR_BYTES = 160;

  /** By {@code enum ibv_event_type}, those that happen to a queue pair. */
  private static final Map<Integer, AsyncEvent.Type> OF_QUEUE_PAIRS =
      Map.of(
          1, AsyncEvent.Type.QP_FATAL,
          2, AsyncEvent.Type.QP_REQUEST_ERROR,
          3, AsyncEvent.Type.QP_ACCESS_ERROR,
          4, AsyncEvent.Type.COMMUNICATION_ESTABLISHED,
          5, AsyncEvent.Type.SQ_DRAINED,
          16, AsyncEvent.Type.LAST_WQE_REACHED);

  private static final int CQ_ERROR = 0;
  private static final int PORT_ACTIVE = 9;
  private static final int PORT_ERROR = 10;

  private final DeviceContext context;
  private final Queue<AsyncEvent> events = new ArrayDeque<>();

  /** Which of our completion queues a {@code struct ibv_cq} belongs to. */
  @FunctionalInterface
  interface QueueNumbers {
    int of(long cq);
  }

  private final QueueNumbers queueNumbers;

  AsyncEvents(DeviceContext context, QueueNumbers queueNumbers) {
    this.context = context;
    this.queueNumbers = queueNumbers;
    Libraries.doNotBlock(context.ops.asyncFd());
  }

  /** An event that Doorbell itself found. */
  void raise(AsyncEvent.Type type, int number) {
    events.add(new AsyncEvent(type, number));
  }

  @Nullable AsyncEvent poll() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment event = arena.allocate(ibv_async_event.layout());
      while (VerbsFunctions.GET_ASYNC_EVENT.call(context.context, event).error() == 0) {
        if (note(event)) {
          VerbsFunctions.ACK_ASYNC_EVENT.callVoid(event);
        }
      }
    }
    return events.poll();
  }

  /**
   * @return false when it names no object: acknowledging it would crash the library
   */
  private boolean note(MemorySegment event) {
    int type = ibv_async_event.event_type(event);
    // A union of pointers and the port's number, at the beginning.
    MemorySegment element = event.get(ValueLayout.ADDRESS, 0);
    if (element.address() == 0) {
      return false;
    }
    AsyncEvent.Type ofQueuePair = OF_QUEUE_PAIRS.get(type);
    if (ofQueuePair != null) {
      int number =
          element.reinterpret(QUEUE_PAIR_BYTES).get(ValueLayout.JAVA_INT, QUEUE_PAIR_NUMBER_OFFSET);
      raise(ofQueuePair, number);
    } else if (type == CQ_ERROR) {
      raise(AsyncEvent.Type.CQ_ERROR, queueNumbers.of(element.address()));
    } else if (type == PORT_ACTIVE || type == PORT_ERROR) {
      raise(
          type == PORT_ACTIVE ? AsyncEvent.Type.PORT_ACTIVE : AsyncEvent.Type.PORT_ERROR,
          event.get(ValueLayout.JAVA_INT, 0));
    }
    return true;
  }
}
