package dev.doorbell.interop.shim;

import dev.doorbell.core.hca.Errno;
import dev.doorbell.interop.shim.abi.ErrnoException;
import dev.doorbell.interop.shim.abi.PageRange;
import dev.doorbell.interop.shim.abi.PagesNotShared;
import dev.doorbell.interop.shim.abi.ShimAction;
import dev.doorbell.interop.shim.command.CommandTable;
import dev.doorbell.interop.shim.command.IoctlCommand;
import dev.doorbell.interop.shim.object.ClientContext;
import dev.doorbell.interop.shim.object.EventStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A connection of the preload library: an open device, or a file descriptor for events (protocol.h
 * in host-runtime/uverbs-shim).
 */
final class ShimConnection {
  private static final int MAGIC = 0x5655_4244;
  private static final int VERSION = 1;
  private static final int HELLO_BYTES = 32;
  private static final int WELCOME_BYTES = 16;
  private static final int HEAD_BYTES = 16;
  private static final int MOST_PAYLOAD = 64 << 10;

  private static final int KIND_DEVICE = 1;
  private static final int KIND_EVENTS = 2;
  private static final int IOCTL = 1;
  private static final int REQUEUE = 2;
  private static final int ANSWER = 3;
  private static final int SHARE = 4;

  /** The library reads answers at once; after this time it is gone. */
  private static final long SEND_TIMEOUT_NANOS = 5_000_000_000L;

  private static final long RETRY_NANOS = 20_000;

  private final ShimServer server;
  private final SocketChannel socket;
  private final ByteBuffer input =
      ByteBuffer.allocate(HEAD_BYTES + MOST_PAYLOAD).order(ByteOrder.LITTLE_ENDIAN);
  private boolean greeted;
  private @Nullable ClientContext context;
  private @Nullable EventStream events;
  private @Nullable PageRange requested;

  /** Ranges that the command being repeated has had shared; no other command releases them. */
  private final List<PageRange> held = new ArrayList<>();

  ShimConnection(ShimServer server, SocketChannel socket) {
    this.server = server;
    this.socket = socket;
  }

  /**
   * Reads what has arrived and answers it.
   *
   * @return false when the connection has ended
   */
  boolean serve() {
    try {
      if (socket.read(input) < 0) {
        return false;
      }
      input.flip();
      while (handleMessage()) {
        // The next message may have arrived already.
      }
      input.compact();
      return true;
    } catch (IOException e) {
      return false;
    }
  }

  private boolean handleMessage() throws IOException {
    if (!greeted) {
      if (input.remaining() < HELLO_BYTES) {
        return false;
      }
      greeted = true;
      handleHello();
      return true;
    }
    if (input.remaining() < HEAD_BYTES) {
      return false;
    }
    int start = input.position();
    int bytes = input.getInt(start);
    if (bytes < Long.BYTES || bytes > MOST_PAYLOAD) {
      throw new IOException("a message of %d bytes".formatted(bytes));
    }
    if (input.remaining() < HEAD_BYTES + bytes) {
      return false;
    }
    int type = input.getInt(start + 4);
    int value = input.getInt(start + 8);
    input.position(start + HEAD_BYTES);
    long first = input.getLong();
    byte[] content = new byte[bytes - Long.BYTES];
    input.get(content);
    ClientContext open = context;
    if (open == null) {
      throw new IOException("a message where no device is open");
    }
    switch (type) {
      case IOCTL -> command(open, first, content, value);
      case REQUEUE -> server.tables().requeue(first, content);
      default -> throw new IOException("a message of type %d".formatted(type));
    }
    return true;
  }

  private void handleHello() throws IOException {
    int magic = input.getInt();
    int version = input.getInt();
    int kind = input.getInt();
    int pid = input.getInt();
    int file = input.getInt();
    int device = input.getInt();
    long token = input.getLong();
    int error = 0;
    if (magic != MAGIC || version != VERSION) {
      error = Errno.EPROTO;
    } else if (kind == KIND_DEVICE) {
      try {
        context = server.openDevice(pid, file, device);
      } catch (ErrnoException e) {
        error = e.errno();
      }
    } else if (kind == KIND_EVENTS) {
      events = server.tables().events(token);
      error = events == null ? Errno.ENOENT : 0;
    } else {
      error = Errno.EPROTO;
    }
    ByteBuffer answer = ByteBuffer.allocate(WELCOME_BYTES).order(ByteOrder.LITTLE_ENDIAN);
    answer.putInt(MAGIC).putInt(error).putInt((int) ProcessHandle.current().pid()).putInt(0);
    send(answer.flip());
    if (events != null) {
      events.connect(socket, file);
    }
    if (error != 0) {
      throw new IOException("refused with errno " + error);
    }
  }

  private void command(ClientContext open, long head, byte[] content, int shared)
      throws IOException {
    PageRange range = requested;
    requested = null;
    int error = 0;
    List<ShimAction> actions = List.of();
    if (range != null && shared != 0) {
      error = shared;
    } else {
      if (range != null) {
        open.process().onShared(range);
        held.add(range);
      }
      try {
        IoctlCommand command = new IoctlCommand(open, head, content);
        error = CommandTable.run(command);
        actions = error == 0 ? command.actions() : List.of();
      } catch (ErrnoException e) {
        error = e.errno();
      } catch (PagesNotShared e) {
        requested = e.range();
        answer(SHARE, 0, List.of(ShimAction.share(e.range())));
        return;
      }
    }
    held.forEach(open.process()::release);
    held.clear();
    List<ShimAction> all = new ArrayList<>(actions);
    open.process().takeUnused().forEach(unused -> all.add(ShimAction.unshare(unused)));
    answer(ANSWER, error, all);
  }

  private void answer(int type, int value, List<ShimAction> actions) throws IOException {
    int payload = actions.size() * ShimAction.BYTES;
    ByteBuffer answer = ByteBuffer.allocate(HEAD_BYTES + payload).order(ByteOrder.LITTLE_ENDIAN);
    answer.putInt(payload).putInt(type).putInt(value).putInt(0);
    actions.forEach(action -> action.put(answer));
    send(answer.flip());
  }

  private void send(ByteBuffer answer) throws IOException {
    long deadline = System.nanoTime() + SEND_TIMEOUT_NANOS;
    while (answer.hasRemaining()) {
      if (socket.write(answer) == 0) {
        if (System.nanoTime() - deadline > 0) {
          throw new IOException("the client does not read the answer");
        }
        LockSupport.parkNanos(RETRY_NANOS);
      }
    }
  }

  /** The program has closed the connection, or has ended. */
  void close() {
    if (events != null) {
      server.tables().close(events);
    }
    if (context != null) {
      held.forEach(context.process()::release);
      held.clear();
      server.closeDevice(context);
      context = null;
    }
    try {
      socket.close();
    } catch (IOException e) {
      // Nothing is left to send.
      input.clear();
    }
  }
}
