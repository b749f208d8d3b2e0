package dev.doorbell.verbs.device;

import dev.doorbell.core.hca.AsyncEvent;
import dev.doorbell.verbs.generated.verbs.ibv_async_event;
import dev.doorbell.verbs.library.Libraries;
import dev.doorbell.verbs.library.VerbsFunctions;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.function.LongToIntFunction;
import org.jspecify.annotations.Nullable;

/** Asynchronous events of a device, read without waiting. */
public final class AsyncEvents {
  /** {@code struct ibv_qp.qp_num}. */
  public static final int QUEUE_PAIR_NUMBER_OFFSET = 52;

  private static final int QUEUE_PAIR_BYTES = 160;

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
    AsyncEvent.Type type = AsyncEvent.Type.ofVerbs(ibv_async_event.event_type(event));
    // The struct begins with a union of pointers and the port's number.
    MemorySegment element = event.get(ValueLayout.ADDRESS, 0);
    if (element.address() == 0) {
      return false;
    }
    if (type == null) {
      return true;
    }
    switch (type) {
      case CQ_ERROR -> raise(type, queueNumbers.applyAsInt(element.address()));
      case PORT_ACTIVE, PORT_ERROR -> raise(type, event.get(ValueLayout.JAVA_INT, 0));
      case SRQ_ERROR, SRQ_LIMIT_REACHED -> {
        // This back end has no shared receive queues.
      }
      default ->
          raise(
              type,
              element
                  .reinterpret(QUEUE_PAIR_BYTES)
                  .get(ValueLayout.JAVA_INT, QUEUE_PAIR_NUMBER_OFFSET));
    }
    return true;
  }
}
