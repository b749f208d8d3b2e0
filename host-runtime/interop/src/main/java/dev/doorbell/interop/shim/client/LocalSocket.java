package dev.doorbell.interop.shim.client;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

/**
 * A connection of a program of this machine over a Unix socket. It never blocks. The kernel says
 * which process and which user is at the other end, so that no program can pass for another one.
 */
public final class LocalSocket implements AutoCloseable {
  private static final int BLOCK = 16 << 10;

  private final LinuxCalls libc;
  private final int descriptor;
  private final int pid;
  private final int uid;
  private final Runnable onClose;
  private final MemorySegment block = Arena.ofAuto().allocate(BLOCK, Long.BYTES);
  private int given = -1;
  private boolean ready;
  private boolean writes;
  private boolean closed;

  LocalSocket(LinuxCalls libc, int descriptor, Runnable onClose) {
    this.libc = libc;
    this.descriptor = descriptor;
    this.onClose = onClose;
    int[] peer = libc.peer(descriptor);
    this.pid = peer[0];
    this.uid = peer[1];
  }

  public int pid() {
    return pid;
  }

  public int uid() {
    return uid;
  }

  int descriptor() {
    return descriptor;
  }

  void onReady() {
    ready = true;
  }

  /** True if there was something to read, to write or to end since the last call. */
  public boolean takeReady() {
    boolean was = ready;
    ready = false;
    return was;
  }

  /** True when that is not what the last call said. */
  boolean changes(boolean now) {
    boolean was = writes;
    writes = now;
    return was != now;
  }

  /** The other end gets a descriptor of this file with the next bytes. */
  public void give(int file) {
    given = file;
  }

  /**
   * Reads what has arrived, as far as there is room.
   *
   * @return the number of bytes, 0 when there is nothing, -1 at the end
   * @throws IOException when the connection is broken
   */
  public int read(ByteBuffer into) throws IOException {
    int room = Math.min(into.remaining(), BLOCK);
    if (room == 0) {
      return 0;
    }
    int count = libc.receive(descriptor, block.address(), room);
    if (count > 0) {
      into.put(block.asByteBuffer().limit(count));
      return count;
    }
    return count == 0 ? -1 : checked(count);
  }

  /**
   * Writes what the system takes now.
   *
   * @throws IOException when the connection is broken
   */
  public void write(ByteBuffer from) throws IOException {
    while (from.hasRemaining()) {
      int part = Math.min(from.remaining(), BLOCK);
      block.asByteBuffer().put(0, from, from.position(), part);
      int count =
          checked(
              given < 0
                  ? libc.send(descriptor, block.address(), part)
                  : libc.sendFile(descriptor, block.address(), part, given));
      if (count == 0) {
        return;
      }
      given = -1;
      from.position(from.position() + count);
    }
  }

  private static int checked(int result) throws IOException {
    if (result == -LinuxCalls.EAGAIN || result == -LinuxCalls.EINTR) {
      return 0;
    }
    if (result < 0) {
      throw new IOException("the connection is broken: errno " + -result);
    }
    return result;
  }

  @Override
  public void close() {
    if (!closed) {
      closed = true;
      onClose.run();
      libc.close(descriptor);
    }
  }
}
