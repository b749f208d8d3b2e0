package dev.doorbell.interop.shim.object;

import dev.doorbell.core.hca.AsyncEvent;
import dev.doorbell.core.hca.Errno;
import dev.doorbell.interop.shim.abi.ErrnoException;
import dev.doorbell.interop.shim.abi.ShimAction;
import dev.doorbell.interop.shim.abi.Struct;
import dev.doorbell.interop.shim.client.EventFile;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Event channels of DEVX, and the subscriptions of programs. Objects that firmware has created
 * report events only here. A channel's records are the cookies of subscriptions, and the events of
 * firmware behind them where the channel has them.
 */
@SuppressWarnings("ReferenceEquality") // an object is itself alone
public final class DevxSubscriptions {
  /** Completion of an armed queue ({@code MLX5_EVENT_TYPE_COMP}). */
  static final int COMPLETION = 0;

  /** An entry of firmware's event queue. */
  public static final int EVENT_BYTES = 64;

  // Of such an entry: its type, the number, and of a completion queue's error queue and syndrome.
  private static final int EVENT_TYPE = 1;
  private static final int EVENT_NUMBER = 56;
  private static final int EVENT_QUEUE = 32;
  private static final int EVENT_SYNDROME = 43;
  private static final int OVERRUN = 1;

  /**
   * @param file that is signalled in place of a record; null for none
   */
  private record Subscription(
      EventStream to, Resource of, int type, long cookie, @Nullable EventFile file) {
    boolean hasRecordOf(Subscription other) {
      return to == other.to && cookie == other.cookie;
    }
  }

  private final List<EventStream> channels = new ArrayList<>();
  private final List<Subscription> subscriptions = new ArrayList<>();

  EventStream openChannel(ServerTables tables, int pid, int eventBytes) {
    EventStream channel = tables.openEvents(pid, Long.BYTES + eventBytes);
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
   * @param file that is signalled in place of records, or null
   */
  public void subscribe(
      int descriptor, Resource of, Struct types, long cookie, @Nullable EventFile file)
      throws ErrnoException {
    EventStream to = channel(descriptor);
    for (int at = 0; at < types.size(); at += Short.BYTES) {
      subscriptions.add(new Subscription(to, of, types.u16(at), cookie, file));
    }
  }

  /** The channel with that descriptor in the program. */
  public EventStream channel(int descriptor) throws ErrnoException {
    return channels.stream()
        .filter(channel -> channel.descriptor() == descriptor)
        .findFirst()
        .orElseThrow(() -> new ErrnoException(Errno.EBADF));
  }

  /** Adds a record for each subscription to such events of the object. */
  void raise(Resource of, int type) {
    for (Subscription one : subscriptions) {
      if (one.of == of && one.type == type && one.file != null) {
        one.file.signal();
      } else if (one.of == of && one.type == type) {
        one.to.add(record(one, of));
      }
    }
  }

  private static Struct record(Subscription one, Resource of) {
    Struct record = new Struct(one.to.recordBytes()).u64(0, one.cookie);
    if (record.size() > EVENT_BYTES && of instanceof Resource.Queue queue) {
      boolean isOverrun = one.type == AsyncEvent.Type.CQ_ERROR.mlx5();
      record
          .u8(Long.BYTES + EVENT_TYPE, one.type)
          .be32(Long.BYTES + (isOverrun ? EVENT_QUEUE : EVENT_NUMBER), queue.number())
          .u8(Long.BYTES + EVENT_SYNDROME, isOverrun ? OVERRUN : 0);
    }
    return record;
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
    for (Subscription one : ended) {
      if (one.file != null) {
        one.file.close();
      }
    }
    subscriptions.removeIf(one -> one.to.isClosed());
    channels.removeIf(EventStream::isClosed);
    Predicate<Subscription> isUnread =
        one -> !one.to.isClosed() && subscriptions.stream().noneMatch(one::hasRecordOf);
    return ended.stream()
        .filter(isUnread)
        .map(one -> ShimAction.drain(one.to.token(), 0, one.to.recordBytes(), one.cookie))
        .toList();
  }
}
