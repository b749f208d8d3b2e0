package dev.doorbell.interop.shim.object;

import dev.doorbell.interop.shim.abi.Struct;
import dev.doorbell.interop.shim.client.LocalSocket;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * Event records for a file descriptor of a program, which is the other end of a socket. Records
 * that the socket does not take are kept here.
 */
public final class EventStream {
  private static final int MAX_RECORDS = 1 << 16;

  private final int pid;
  private final long token;
  private final int recordBytes;
  private final ArrayDeque<ByteBuffer> unsent = new ArrayDeque<>();
  private @Nullable LocalSocket socket;
  private int descriptor = -1;
  private boolean closed;

  EventStream(int pid, long token, int recordBytes) {
    this.pid = pid;
    this.token = token;
    this.recordBytes = recordBytes;
  }

  /** Names the stream in messages to the program's library. */
  public long token() {
    return token;
  }

  public int recordBytes() {
    return recordBytes;
  }

  /** The number of the file descriptor in the program; -1 before it is connected. */
  public int descriptor() {
    return descriptor;
  }

  public void connect(LocalSocket to, int number) {
    socket = to;
    descriptor = number;
    flush();
  }

  void close() {
    closed = true;
    descriptor = -1;
    unsent.clear();
  }

  boolean isClosed() {
    return closed;
  }

  public void add(Struct record) {
    add(record.content());
  }

  /** Adds a record; a program that never reads loses the latest ones. */
  public void add(byte[] record) {
    if (!closed && unsent.size() < MAX_RECORDS) {
      unsent.add(ByteBuffer.wrap(record));
      flush();
    }
  }

  /**
   * Discards records of an object that the socket has not taken.
   *
   * @param element the number with which they begin
   * @return how many
   */
  public int discard(long element) {
    int before = unsent.size();
    long first = Long.reverseBytes(element);
    unsent.removeIf(record -> record.position() == 0 && record.getLong(0) == first);
    return before - unsent.size();
  }

  boolean isOf(int process) {
    return pid == process;
  }

  /** True when there are records that the socket has not taken yet. */
  public boolean hasUnsent() {
    return !unsent.isEmpty();
  }

  /** Writes what the socket takes now. */
  public void flush() {
    LocalSocket to = socket;
    if (to == null || closed) {
      return;
    }
    try {
      while (!unsent.isEmpty()) {
        ByteBuffer next = unsent.element();
        to.write(next);
        if (next.hasRemaining()) {
          return;
        }
        unsent.remove();
      }
    } catch (IOException e) {
      close();
    }
  }
}
