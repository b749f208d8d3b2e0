package dev.doorbell.interop.shim.client;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A Unix socket that programs of this user connect to, and the wait for it and its connections. */
public final class LocalListener implements AutoCloseable {
  private static final int BACKLOG = 64;

  /** The owner of a connection that waits. */
  public interface Waiting {
    LocalSocket socket();

    /** True when it has something to write that the system has not taken yet. */
    boolean hasUnsent();
  }

  private final LinuxCalls libc = new LinuxCalls();
  private final int descriptor;
  private MemorySegment descriptors = MemorySegment.NULL;
  private boolean closed;

  /**
   * Listens; the socket's mode is 0600.
   *
   * @throws IOException when the path is too long or cannot be written
   */
  public LocalListener(Path path) throws IOException {
    descriptor = libc.listen(path, BACKLOG);
    if (descriptor < 0) {
      throw new IOException("cannot listen at %s: errno %d".formatted(path, -descriptor));
    }
    Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rw-------"));
  }

  /**
   * The next connection, or null: also where the system has no descriptor left for it, so that it
   * waits until others have ended.
   */
  public @Nullable LocalSocket accept() {
    int connection = libc.accept(descriptor);
    return connection < 0 ? null : new LocalSocket(libc, connection);
  }

  /**
   * Waits until there is a new connection, or one of the connections can be read, or written where
   * it has something unsent.
   *
   * @return one flag for each connection, and a last one for new connections
   */
  public boolean[] await(List<? extends Waiting> connections, long nanos) {
    int count = connections.size() + 1;
    long bytes = (long) count * LinuxCalls.POLLFD_BYTES;
    if (descriptors.byteSize() < bytes) {
      descriptors = Arena.ofAuto().allocate(2 * bytes, Long.BYTES);
    }
    for (int i = 0; i < count - 1; i++) {
      Waiting each = connections.get(i);
      put(i, each.socket().descriptor(), each.hasUnsent());
    }
    put(count - 1, descriptor, false);
    boolean any = libc.poll(descriptors.address(), count, nanos) > 0;
    boolean[] ready = new boolean[count];
    for (int i = 0; any && i < count; i++) {
      long returned = (long) i * LinuxCalls.POLLFD_BYTES + Integer.BYTES + Short.BYTES;
      ready[i] = descriptors.get(ValueLayout.JAVA_SHORT, returned) != 0;
    }
    return ready;
  }

  private void put(int i, int fd, boolean writes) {
    long at = (long) i * LinuxCalls.POLLFD_BYTES;
    // Who does not take its answers is asked nothing more.
    short events = writes ? LinuxCalls.POLLOUT : LinuxCalls.POLLIN;
    descriptors.set(ValueLayout.JAVA_INT, at, fd);
    descriptors.set(ValueLayout.JAVA_INT, at + Integer.BYTES, events);
  }

  @Override
  public void close() {
    if (!closed) {
      closed = true;
      libc.close(descriptor);
    }
  }
}
