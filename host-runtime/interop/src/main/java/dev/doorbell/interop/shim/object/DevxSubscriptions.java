package dev.doorbell.interop.shim.object;

import dev.doorbell.core.hca.AsyncEvent;
import dev.doorbell.core.hca.Errno;
import dev.doorbell.interop.shim.abi.ErrnoException;
import dev.doorbell.interop.shim.abi.ShimAction;
import dev.doorbell.interop.shim.abi.Struct;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/**
 * Event channels of DEVX, and the subscriptions of programs. Objects that firmware has created
 * report events only here. A channel's records are the cookies of subscriptions.
 */
public final class DevxSubscriptions {
  /** Completion of an armed queue ({@code MLX5_EVENT_TYPE_COMP}). */
  static final int COMPLETION = 0;

  private static final int COMMUNICATION_ESTABLISHED = 0x02;
  private static final int SQ_DRAINED = 0x03;
  private static final int CQ_ERROR = 0x04;
  private static final int WQ_FATAL = 0x05;
  private static final int WQ_REQUEST_ERROR = 0x10;
  private static final int WQ_ACCESS_ERROR = 0x11;
  private static final int SRQ_ERROR = 0x12;
  private static final int LAST_WQE = 0x13;
  private static final int SRQ_LIMIT = 0x14;

  private static final int RECORD_BYTES = Long.BYTES;

  private record Subscription(EventStream to, Resource of, int type, long cookie) {
    boolean hasRecordOf(Subscription other) {
      return to == other.to && cookie == other.cookie;
    }
  }

  private final List<EventStream> channels = new ArrayList<>();
  private final List<Subscription> subscriptions = new ArrayList<>();

  EventStream openChannel(ServerTables tables, int pid) {
    EventStream channel = tables.openEvents(pid, RECORD_BYTES);
    channels.add(channel);
    return channel;
  }

  /** True for event types that a program may subscribe to. */
  public static boolean isKnown(int type) {
    return type <= WQ_FATAL || (type >= WQ_REQUEST_ERROR && type <= SRQ_LIMIT);
  }

  /**
   * Subscribes to events of one object.
   *
   * @param descriptor of the channel
   * @param types two bytes each
   */
  public void subscribe(int descriptor, Resource of, Struct types, long cookie)
      throws ErrnoException {
    EventStream to =
        channels.stream()
            .filter(channel -> channel.descriptor() == descriptor)
            .findFirst()
            .orElseThrow(() -> new ErrnoException(Errno.EBADF));
    for (int at = 0; at < types.size(); at += Short.BYTES) {
      subscriptions.add(new Subscription(to, of, types.u16(at), cookie));
    }
  }

  /** Adds a record for each subscription to such events of the object. */
  void raise(Resource of, int type) {
    for (Subscription one : subscriptions) {
      if (one.of == of && one.type == type) {
        one.to.add(new Struct(RECORD_BYTES).u64(0, one.cookie));
      }
    }
  }

  /** Raises an asynchronous event; see {@link #raise(Resource, int)}. */
  void raise(Resource of, AsyncEvent.Type type) {
    raise(
        of,
        switch (type) {
          case COMMUNICATION_ESTABLISHED -> COMMUNICATION_ESTABLISHED;
          case SQ_DRAINED -> SQ_DRAINED;
          case CQ_ERROR -> CQ_ERROR;
          case QP_FATAL -> WQ_FATAL;
          case QP_REQUEST_ERROR -> WQ_REQUEST_ERROR;
          case QP_ACCESS_ERROR -> WQ_ACCESS_ERROR;
          case SRQ_ERROR -> SRQ_ERROR;
          case LAST_WQE_REACHED -> LAST_WQE;
          case SRQ_LIMIT_REACHED -> SRQ_LIMIT;
          case PORT_ACTIVE, PORT_ERROR ->
              throw new IllegalArgumentException(type + " concerns no object");
        });
  }

  /**
   * Removes the subscriptions of a closed object.
   *
   * @return actions that discard its unread records; records that another subscription shares stay
   */
  public List<ShimAction> remove(Resource closed) {
    List<Subscription> ended =
        subscriptions.stream().filter(one -> one.of == closed).distinct().toList();
    subscriptions.removeAll(ended);
    subscriptions.removeIf(one -> one.to.isClosed());
    channels.removeIf(EventStream::isClosed);
    Predicate<Subscription> isUnread =
        one -> !one.to.isClosed() && subscriptions.stream().noneMatch(one::hasRecordOf);
    return ended.stream()
        .filter(isUnread)
        .map(one -> ShimAction.drain(one.to.token(), 0, RECORD_BYTES, one.cookie))
        .toList();
  }
}
