package dev.doorbell.interop.shim;

import dev.doorbell.core.gpu.SharedGpus;
import dev.doorbell.core.hca.Errno;
import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.core.uverbs.generated.ShimProtocol;
import dev.doorbell.interop.access.PrivateFolder;
import dev.doorbell.interop.shim.abi.ErrnoException;
import dev.doorbell.interop.shim.abi.PageRange;
import dev.doorbell.interop.shim.abi.PagesNotShared;
import dev.doorbell.interop.shim.abi.ShimAction;
import dev.doorbell.interop.shim.client.ClientProcess;
import dev.doorbell.interop.shim.client.LocalListener;
import dev.doorbell.interop.shim.client.LocalSocket;
import dev.doorbell.interop.shim.command.CommandTable;
import dev.doorbell.interop.shim.command.IoctlCommand;
import dev.doorbell.interop.shim.gpu.GpuConnection;
import dev.doorbell.interop.shim.object.ClientContext;
import dev.doorbell.interop.shim.object.EventStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A connection of the preload library: an open device, or a file descriptor for events (protocol.h
 * in host-runtime/uverbs-shim).
 */
final class ShimConnection implements LocalListener.Waiting {
  private static final int ROOT = 0;
  static final int HELLO_BYTES = 32;
  static final int WELCOME_BYTES = 24;
  private static final int HEAD_BYTES = 16;
  private static final int MOST_PAYLOAD = 64 << 10;

  /** A connection says within this time what it is. */
  private static final long HELLO_NANOS = 1_000_000_000L;

  private static final int LAST_TURNS = 64;

  /** More than any queue needs. */
  private static final long MOST_HELD = 1L << 30;

  // struct shim_gpu_piece
  private static final int PIECE_BYTES = 2 * Long.BYTES + 2 * Integer.BYTES + 16 + 64;
  private static final int HANDLE_WORDS = 8;

  /** The library reads answers at once; after this time it is gone. */
  private static final long SEND_TIMEOUT_NANOS = 5_000_000_000L;

  private final ShimServer server;
  private final LocalSocket socket;
  private final ByteBuffer input =
      ByteBuffer.allocate(HEAD_BYTES + MOST_PAYLOAD).order(ByteOrder.LITTLE_ENDIAN);
  private final long since = System.nanoTime();
  private boolean greeted;
  private @Nullable ClientContext context;
  private @Nullable EventStream events;
  private CmFiles.@Nullable CmFile connections;
  private @Nullable GpuConnection gpus;
  private @Nullable PageRange requested;
  private boolean requestedOnGpu;

  private @Nullable ByteBuffer unsent;

  private long unsentSince;

  /** Ranges that the command being repeated has had shared; no other command releases them. */
  private final List<PageRange> held = new ArrayList<>();

  /** Ranges that the library holds shared, by their start. */
  private final Map<Long, PageRange> memory = new HashMap<>();

  ShimConnection(ShimServer server, LocalSocket socket) {
    this.server = server;
    this.socket = socket;
  }

  @Override
  public LocalSocket socket() {
    return socket;
  }

  @Override
  public boolean hasUnsent() {
    return unsent != null || (events != null && events.hasUnsent());
  }

  /**
   * Reads what has arrived and answers it. While an answer is not read, nothing more is: a program
   * that does not read holds up itself alone.
   *
   * @return false when the connection has ended
   */
  boolean serve() {
    try {
      if (events != null) {
        events.flush();
      }
      if (!flush()) {
        return System.nanoTime() - unsentSince <= SEND_TIMEOUT_NANOS;
      }
      if (socket.read(input) < 0) {
        return false;
      }
      input.flip();
      while (unsent == null && handleMessage()) {
        // The next message may have arrived already.
      }
      input.compact();
      return true;
    } catch (IOException e) {
      return false;
    }
  }

  /** True when it has not said what it is for too long. */
  boolean isOverdue() {
    return !greeted && System.nanoTime() - since > HELLO_NANOS;
  }

  /** Sends what is left of an answer; false when something still is. */
  private boolean flush() throws IOException {
    ByteBuffer rest = unsent;
    if (rest != null) {
      socket.write(rest);
      if (rest.hasRemaining()) {
        return false;
      }
      unsent = null;
    }
    return true;
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
    server.hostActs();
    GpuConnection gpu = gpus;
    if (gpu != null) {
      byte[] request = new byte[bytes];
      input.get(request);
      gpu.handle(type, request, this::answer);
      return true;
    }
    long first = input.getLong();
    byte[] content = new byte[bytes - Long.BYTES];
    input.get(content);
    if (type == ShimProtocol.CONNECTION_COMMAND && connections != null) {
      int error = connections.run(content);
      answer(ShimProtocol.ANSWER, error, server.connectionFiles().takeDrained(socket.pid()));
      return true;
    }
    ClientContext open = context;
    if (open == null) {
      throw new IOException("a message where no device is open");
    }
    switch (type) {
      case ShimProtocol.IOCTL -> {
        // What rang before the call comes before it: the call may destroy the queue pair.
        server.turn();
        command(open, first, content, value);
      }
      case ShimProtocol.LAST -> {
        carryOut();
        answer(ShimProtocol.ANSWER, 0, List.of());
      }
      case ShimProtocol.HELD -> hold(open.process(), first, content);
      case ShimProtocol.FREED -> {
        PageRange range = memory.remove(first);
        if (range != null) {
          open.process().release(range);
          // The pages are gone: nothing is left that could become private again.
          open.process().takeUnused();
        }
      }
      case ShimProtocol.GPU_MEMORY -> answer(ShimProtocol.ANSWER, offer(open, content), List.of());
      case ShimProtocol.REQUEUE -> server.tables().requeue(socket.pid(), first, content);
      default -> throw new IOException("a message of type %d".formatted(type));
    }
    return true;
  }

  /** The library has shared pages in which the program will make queues. */
  private void hold(ClientProcess process, long start, byte[] content) throws IOException {
    long bytes =
        content.length == Long.BYTES
            ? ByteBuffer.wrap(content).order(ByteOrder.LITTLE_ENDIAN).getLong()
            : 0;
    if (!ClientProcess.isLegal(start, bytes)
        || bytes > MOST_HELD
        || ((start | bytes) & (AddressSpace.PAGE - 1)) != 0
        || memory.containsKey(start)) {
      throw new IOException("%d bytes of shared pages at 0x%x".formatted(bytes, start));
    }
    PageRange range = new PageRange(start, bytes);
    memory.put(start, range);
    process.onShared(range);
  }

  private void handleHello() throws IOException {
    int magic = input.getInt();
    int version = input.getInt();
    int kind = input.getInt();
    input.getInt(); // reserved
    int file = input.getInt();
    int device = input.getInt();
    long token = input.getLong();
    int error = 0;
    long answered = 0;
    try {
      ErrnoException.require(
          magic == ShimProtocol.MAGIC && version == ShimProtocol.VERSION, Errno.EPROTO);
      ErrnoException.require(
          socket.uid() == PrivateFolder.user() || socket.uid() == ROOT, Errno.EACCES);
      switch (kind) {
        case ShimProtocol.KIND_DEVICE -> {
          context = server.openDevice(socket.pid(), file, device, token == ShimProtocol.INHERITED);
          socket.give(server.wakeFile(context));
        }
        case ShimProtocol.KIND_CONNECTIONS -> {
          connections = server.connectionFiles().open(socket.pid());
          answered = connections.token();
        }
        case ShimProtocol.KIND_GPUS -> gpus = server.openGpus(socket, device - 1);
        case ShimProtocol.KIND_EVENTS -> {
          events = server.tables().events(socket.pid(), token);
          ErrnoException.require(events != null, Errno.ENOENT);
        }
        case ShimProtocol.KIND_CONTROL -> error = server.control(device, token);
        default -> error = Errno.EPROTO;
      }
    } catch (ErrnoException e) {
      error = e.errno();
    }
    ByteBuffer answer = ByteBuffer.allocate(WELCOME_BYTES).order(ByteOrder.LITTLE_ENDIAN);
    answer
        .putInt(ShimProtocol.MAGIC)
        .putInt(error)
        .putInt((int) ProcessHandle.current().pid())
        .putInt(0);
    answer.putLong(answered);
    send(answer.flip());
    if (events != null) {
      events.connect(socket, file);
    }
    if (error != 0) {
      throw new IOException("refused with errno " + error);
    }
  }

  /** Memory of a GPU for the command that the program repeats next. Returns errno, or 0. */
  private static int offer(ClientContext open, byte[] content) throws IOException {
    if (content.length == 0 || content.length % PIECE_BYTES != 0) {
      throw new IOException("GPU memory in %d bytes".formatted(content.length));
    }
    ByteBuffer from = ByteBuffer.wrap(content).order(ByteOrder.LITTLE_ENDIAN);
    List<SharedGpus.Piece> pieces = new ArrayList<>();
    while (from.hasRemaining()) {
      long start = from.getLong();
      long bytes = from.getLong();
      int kind = from.getInt();
      int descriptor = from.getInt();
      from.order(ByteOrder.BIG_ENDIAN);
      UUID device = new UUID(from.getLong(), from.getLong());
      from.order(ByteOrder.LITTLE_ENDIAN);
      List<Long> handle = new ArrayList<>();
      for (int i = 0; i < HANDLE_WORDS; i++) {
        handle.add(from.getLong());
      }
      SharedGpus.Kind[] kinds = SharedGpus.Kind.values();
      boolean follows =
          pieces.isEmpty() || pieces.getLast().start() + pieces.getLast().bytes() == start;
      if (kind < 0 || kind >= kinds.length || bytes <= 0 || !follows) {
        return Errno.EINVAL;
      }
      pieces.add(new SharedGpus.Piece(kinds[kind], start, bytes, device, handle, descriptor));
    }
    try {
      open.process().offer(pieces);
      return 0;
    } catch (ErrnoException e) {
      return e.errno();
    }
  }

  private void command(ClientContext open, long head, byte[] content, int shared)
      throws IOException {
    PageRange range = requested;
    boolean onGpu = requestedOnGpu;
    requested = null;
    requestedOnGpu = false;
    int error = 0;
    List<ShimAction> actions = List.of();
    if (range != null && shared != 0) {
      error = shared;
    } else {
      if (range != null && !onGpu) {
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
        requestedOnGpu = e.isOnGpu();
        answer(
            ShimProtocol.SHARE,
            0,
            List.of(e.isOnGpu() ? ShimAction.export(e.range()) : ShimAction.share(e.range())));
        return;
      }
    }
    open.process().withdraw();
    held.forEach(open.process()::release);
    held.clear();
    List<ShimAction> all = new ArrayList<>(actions);
    open.process().takeUnused().forEach(unused -> all.add(ShimAction.unshare(unused)));
    answer(ShimProtocol.ANSWER, error, all);
  }

  private void answer(GpuConnection.Reply reply) {
    int payload = reply.payload().remaining();
    ByteBuffer answer = ByteBuffer.allocate(HEAD_BYTES + payload).order(ByteOrder.LITTLE_ENDIAN);
    answer
        .putInt(payload)
        .putInt(ShimProtocol.ANSWER)
        .putInt(reply.status())
        .putInt(reply.hasText() ? 1 : 0);
    answer.put(reply.payload());
    try {
      send(answer.flip());
    } catch (IOException e) {
      // The program has ended, which the next look at its socket finds.
      unsent = null;
    }
  }

  private void answer(int type, int value, List<ShimAction> actions) throws IOException {
    int payload = actions.size() * ShimAction.BYTES;
    ByteBuffer answer = ByteBuffer.allocate(HEAD_BYTES + payload).order(ByteOrder.LITTLE_ENDIAN);
    answer.putInt(payload).putInt(type).putInt(value).putInt(0);
    actions.forEach(action -> action.put(answer));
    send(answer.flip());
  }

  private void send(ByteBuffer answer) throws IOException {
    unsent = answer;
    unsentSince = System.nanoTime();
    flush();
  }

  /** Carries out the doorbells that a program rang before it ends, as a NIC does. */
  void carryOut() {
    for (int i = 0; context != null && i < LAST_TURNS && server.turn() > 0; i++) {
      // The next turn may find an answer.
    }
  }

  void close() {
    if (events != null) {
      server.tables().close(events);
    }
    if (connections != null) {
      server.connectionFiles().close(connections);
      connections = null;
    }
    if (gpus != null) {
      server.closeGpus(gpus);
      gpus = null;
    }
    if (context != null) {
      held.forEach(context.process()::release);
      held.clear();
      memory.values().forEach(context.process()::release);
      memory.clear();
      server.closeDevice(context);
      context = null;
    }
    socket.close();
  }
}
