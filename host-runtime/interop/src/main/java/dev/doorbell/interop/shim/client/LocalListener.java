package dev.doorbell.interop.shim.client;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A Unix socket that programs of this user connect to, and the wait for it, its connections and the
 * wake files of programs.
 */
public final class LocalListener implements AutoCloseable {
  private static final int BACKLOG = 64;
  private static final int MOST_EVENTS = 64;

  /** The owner of a connection that waits. */
  public interface Waiting {
    LocalSocket socket();

    /** True when it has something to write that the system has not taken yet. */
    boolean hasUnsent();
  }

  private final LinuxCalls libc;
  private final int descriptor;
  private final int epoll;
  private final MemorySegment events =
      Arena.ofAuto().allocate(MOST_EVENTS * LinuxCalls.EVENT_BYTES, Long.BYTES);
  private final Map<Integer, LocalSocket> sockets = new HashMap<>();
  private int wakes;
  private boolean closed;

  /**
   * Listens; the socket's mode is 0600.
   *
   * @throws IOException when the path is too long or cannot be written
   */
  public LocalListener(Path path) throws IOException {
    this(path, new LinuxCalls());
  }

  LocalListener(Path path, LinuxCalls libc) throws IOException {
    this.libc = libc;
    descriptor = libc.listen(path, BACKLOG);
    if (descriptor < 0) {
      throw new IOException("cannot listen at %s: errno %d".formatted(path, -descriptor));
    }
    Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rw-------"));
    epoll = libc.epoll();
    int error = libc.epollControl(epoll, LinuxCalls.WATCH, descriptor, LinuxCalls.READABLE);
    if (error < 0) {
      libc.close(descriptor);
      throw new IOException("cannot wait for %s: errno %d".formatted(path, -error));
    }
  }

  /**
   * The next connection, or null: also where the system has no descriptor left for it, so that it
   * waits until others have ended.
   */
  public @Nullable LocalSocket accept() {
    int connection = libc.accept(descriptor);
    if (connection < 0) {
      return null;
    }
    if (libc.epollControl(epoll, LinuxCalls.WATCH, connection, LinuxCalls.READABLE) < 0) {
      libc.close(connection);
      return null;
    }
    LocalSocket accepted = new LocalSocket(libc, connection, () -> sockets.remove(connection));
    sockets.put(connection, accepted);
    return accepted;
  }

  /**
   * A file whose descriptor a program gets: what it writes there ends the wait. Nobody reads it.
   *
   * @return its descriptor here, or minus errno
   */
  public int openWakeFile() {
    int file = libc.eventFile();
    int events = LinuxCalls.READABLE | LinuxCalls.EDGE;
    int error = file < 0 ? file : libc.epollControl(epoll, LinuxCalls.WATCH, file, events);
    if (error < 0 && file >= 0) {
      libc.close(file);
    }
    return error < 0 ? error : file;
  }

  /** The program may keep its descriptor: writing there has no effect any more. */
  public void closeWakeFile(int file) {
    libc.epollControl(epoll, LinuxCalls.UNWATCH, file, 0);
    libc.close(file);
  }

  /** The number of wakes by these files. */
  public int wakes() {
    return wakes;
  }

  /**
   * Waits until there is a new connection, or one of the connections can be read, or written where
   * it has something unsent ({@link LocalSocket#takeReady}), or a program wakes this thread.
   *
   * @return true if there is a new connection
   */
  public boolean await(List<? extends Waiting> connections, long nanos) {
    for (Waiting each : connections) {
      // Who does not take its answers is asked nothing more.
      boolean writes = each.hasUnsent();
      if (each.socket().changes(writes)) {
        int events = writes ? LinuxCalls.WRITABLE : LinuxCalls.READABLE;
        libc.epollControl(epoll, LinuxCalls.REWATCH, each.socket().descriptor(), events);
      }
    }
    int count = libc.epollWait(epoll, events, MOST_EVENTS, nanos);
    boolean isNew = false;
    for (int i = 0; i < count; i++) {
      int file = LinuxCalls.fileOf(events, i);
      LocalSocket socket = sockets.get(file);
      if (socket != null) {
        socket.onReady();
      } else if (file == descriptor) {
        isNew = true;
      } else {
        wakes++;
      }
    }
    return isNew;
  }

  @Override
  public void close() {
    if (!closed) {
      closed = true;
      libc.close(descriptor);
      libc.close(epoll);
    }
  }
}
