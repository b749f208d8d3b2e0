package dev.doorbell.interop.shim;

import dev.doorbell.core.hca.AsyncEvent;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/**
 * Event channels of DEVX, and who has asked to be told there of what happens to which object: what
 * firmware made tells nobody else. A channel's records are the cookies of subscriptions.
 */
final class DevxEvents {
  /** Completion of a queue that was armed ({@code MLX5_EVENT_TYPE_COMP}). */
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

  private static final int OMIT_DATA = 1;
  private static final int RECORD_BYTES = Long.BYTES;

  private record Subscription(EventQueue to, Resource of, int type, long cookie) {}

  private final List<EventQueue> channels = new ArrayList<>();
  private final List<Subscription> subscriptions = new ArrayList<>();

  /** Opens a channel. Those whose records hold event data are not served. */
  static void open(Command command) throws Refusal {
    if (command.in32(Abi.DEVX_EVENT_FD_FLAGS) != OMIT_DATA) {
      throw new Refusal(Errno.EOPNOTSUPP);
    }
    Context context = command.context();
    EventQueue channel = context.server().newEvents(RECORD_BYTES);
    context.devxEvents().channels.add(channel);
    command.then(
        Action.events(
            channel.token(), command.descriptorAddress(Abi.DEVX_EVENT_FD_HANDLE), Long.BYTES));
  }

  /** Asks for events of one object. Those of the device itself are not served. */
  static void subscribe(Command command) throws Refusal {
    if (command.has(Abi.DEVX_SUBSCRIBE_FD_NUM) || !command.has(Abi.DEVX_SUBSCRIBE_OBJ_HANDLE)) {
      throw new Refusal(Errno.EOPNOTSUPP);
    }
    Context context = command.context();
    Resource of = context.find(Resource.class, command.handle(Abi.DEVX_SUBSCRIBE_OBJ_HANDLE));
    Struct types = command.in(Abi.DEVX_SUBSCRIBE_TYPES, Short.BYTES);
    for (int at = 0; at < types.size(); at += Short.BYTES) {
      if (at + Short.BYTES > types.size() || !isKnown(types.u16(at))) {
        throw new Refusal(Errno.EINVAL);
      }
    }
    long cookie =
        command.has(Abi.DEVX_SUBSCRIBE_COOKIE) ? command.in64(Abi.DEVX_SUBSCRIBE_COOKIE) : 0;
    DevxEvents events = context.devxEvents();
    EventQueue to = events.channel(command.handle(Abi.DEVX_SUBSCRIBE_FD_HANDLE));
    for (int at = 0; at < types.size(); at += Short.BYTES) {
      events.subscriptions.add(new Subscription(to, of, types.u16(at), cookie));
    }
  }

  private static boolean isKnown(int type) {
    return type <= WQ_FATAL || (type >= WQ_REQUEST_ERROR && type <= SRQ_LIMIT);
  }

  private EventQueue channel(int descriptor) throws Refusal {
    for (EventQueue channel : channels) {
      if (channel.descriptor() == descriptor) {
        return channel;
      }
    }
    throw new Refusal(Errno.EBADF);
  }

  /** Tells whoever has asked. */
  void tell(Resource of, int type) {
    for (Subscription one : subscriptions) {
      if (one.of == of && one.type == type) {
        one.to.add(new Struct(RECORD_BYTES).u64(0, one.cookie));
      }
    }
  }

  /** As {@link #tell(Resource, int)}, of an asynchronous event. */
  void tell(Resource of, AsyncEvent.Type type) {
    tell(
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
              throw new IllegalArgumentException(type + " happens to no object");
        });
  }

  /**
   * An object has ended: nobody reads of it any more. Where another subscription has the same
   * cookie, what was not read stays.
   */
  void forget(Resource gone, Command command) {
    List<Subscription> ended =
        subscriptions.stream().filter(one -> one.of == gone).distinct().toList();
    subscriptions.removeAll(ended);
    subscriptions.removeIf(one -> one.to.isClosed());
    channels.removeIf(EventQueue::isClosed);
    ended.stream()
        .filter(one -> !one.to.isClosed() && subscriptions.stream().noneMatch(sameRecord(one)))
        .forEach(one -> command.then(Action.drain(one.to.token(), 0, RECORD_BYTES, one.cookie)));
  }

  private static Predicate<Subscription> sameRecord(Subscription as) {
    return one -> one.to == as.to && one.cookie == as.cookie;
  }
}
