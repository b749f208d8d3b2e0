package dev.doorbell.interop.shim.command;

import dev.doorbell.core.uverbs.generated.UverbsAbi;
import dev.doorbell.interop.shim.abi.ErrnoException;
import dev.doorbell.interop.shim.abi.ShimAction;
import dev.doorbell.interop.shim.abi.Struct;
import dev.doorbell.interop.shim.object.EventStream;
import dev.doorbell.interop.shim.object.Resource;

/** Completion channels and the file of asynchronous events. */
final class ChannelCommands {
  private ChannelCommands() {}

  static void createChannel(IoctlCommand command) throws ErrnoException {
    EventStream channel = command.context().addChannel();
    command.out(UverbsAbi.CORE_OUT, new Struct(4));
    command.addAction(
        ShimAction.events(
            channel.token(), command.pointer(UverbsAbi.CORE_OUT), Integer.BYTES, false));
  }

  static void openAsync(IoctlCommand command) throws ErrnoException {
    openEvents(
        command, command.context().openAsyncEvents(), UverbsAbi.ASYNC_EVENT_ALLOC_FD_HANDLE, true);
  }

  /** The library opens a file descriptor for a stream and returns it in an attribute. */
  static void openEvents(IoctlCommand command, EventStream events, int attribute, boolean async)
      throws ErrnoException {
    command.addAction(
        ShimAction.events(events.token(), command.descriptorAddress(attribute), Long.BYTES, async));
  }

  /** The library discards unread events of an object and corrects their count in the answer. */
  static void drain(IoctlCommand command, EventStream events, int countOffset, long element)
      throws ErrnoException {
    command.addAction(
        ShimAction.drain(
            events.token(),
            command.pointer(UverbsAbi.DESTROY_RESP) + countOffset,
            events.recordBytes(),
            element));
  }

  /** Events of a closed queue that the program may have: not those that its socket did not take. */
  static int reported(IoctlCommand command, Resource.Queue closed) {
    EventStream events = command.context().asyncEvents();
    int reported = closed.asyncEvents();
    return events == null ? reported : reported - events.discard(closed.userHandle);
  }

  /** Closes a queue, and answers its asynchronous events. */
  static void destroy(IoctlCommand command, Class<? extends Resource.Queue> type)
      throws ErrnoException {
    Resource.Queue queue = command.remove(UverbsAbi.DESTROY_HANDLE, type);
    command.out32(UverbsAbi.DESTROY_RESP, reported(command, queue));
    drainAsync(command, queue, 0);
  }

  /** Drains the asynchronous events of a closed queue; see {@link #drain}. */
  static void drainAsync(IoctlCommand command, Resource.Queue closed, int countOffset)
      throws ErrnoException {
    EventStream events = command.context().asyncEvents();
    if (closed.asyncEvents() > 0 && events != null) {
      drain(command, events, countOffset, closed.userHandle);
    }
  }
}
