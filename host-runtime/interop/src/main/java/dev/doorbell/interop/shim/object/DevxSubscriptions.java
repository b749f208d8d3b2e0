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
    return type <= AsyncEvent.Type.QP_FATAL.mlx5()
        || (type >= AsyncEvent.Type.QP_REQUEST_ERROR.mlx5()
            && type <= AsyncEvent.Type.SRQ_LIMIT_REACHED.mlx5());
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
