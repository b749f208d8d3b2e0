package dev.doorbell.verbs.device;

import dev.doorbell.core.hca.AsyncEvent;
import dev.doorbell.verbs.generated.verbs.ibv_async_event;
import dev.doorbell.verbs.library.Libraries;
import dev.doorbell.verbs.library.VerbsFunctions;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.Map;
import java.util.Queue;
import java.util.function.LongToIntFunction;
import org.jspecify.annotations.Nullable;

/** Asynchronous events of a device, read without waiting. */
public final class AsyncEvents {
  /** {@code struct ibv_qp.qp_num}. */
  public static final int QUEUE_PAIR_NUMBER_OFFSET = 52;

  private static final int QUEUE_PAIR_BYTES = 160;

  /** Events of queue pairs, by {@code enum ibv_event_type}. */
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

  private final LongToIntFunction queueNumbers;

  /**
   * @param queueNumbers maps the address of a {@code struct ibv_cq} to the number of our completion
   *     queue
   */
  public AsyncEvents(DeviceContext context, LongToIntFunction queueNumbers) {
    this.context = context;
    this.queueNumbers = queueNumbers;
    Libraries.setNonBlocking(context.ops.asyncFd());
  }

  /** Adds an event that Doorbell itself detected. */
  public void raise(AsyncEvent.Type type, int number) {
    events.add(new AsyncEvent(type, number));
  }

  public @Nullable AsyncEvent poll() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment event = arena.allocate(ibv_async_event.layout());
      while (VerbsFunctions.GET_ASYNC_EVENT.call(context.context, event).error() == 0) {
        if (add(event)) {
          VerbsFunctions.ACK_ASYNC_EVENT.callVoid(event);
        }
      }
    }
    return events.poll();
  }

  /**
   * @return false if it names no object: acknowledging it would crash the library
   */
  private boolean add(MemorySegment event) {
    int type = ibv_async_event.event_type(event);
    // The struct begins with a union of pointers and the port's number.
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
      raise(AsyncEvent.Type.CQ_ERROR, queueNumbers.applyAsInt(element.address()));
    } else if (type == PORT_ACTIVE || type == PORT_ERROR) {
      raise(
          type == PORT_ACTIVE ? AsyncEvent.Type.PORT_ACTIVE : AsyncEvent.Type.PORT_ERROR,
          event.get(ValueLayout.JAVA_INT, 0));
    }
    return true;
  }
}
