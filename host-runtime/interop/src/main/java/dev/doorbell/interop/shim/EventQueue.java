package dev.doorbell.interop.shim;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * A file descriptor of a program from which it reads event records: the other end of a socket. What
 * does not fit waits here.
 */
final class EventQueue {
  /** More unread events than a program with so many objects can have any use for. */
  private static final int MOST = 1 << 16;

  private final long token;
  private final int recordBytes;
  private final ArrayDeque<ByteBuffer> waiting = new ArrayDeque<>();
  private @Nullable SocketChannel socket;
  private int descriptor = -1;
  private boolean closed;

  EventQueue(long token, int recordBytes) {
    this.token = token;
    this.recordBytes = recordBytes;
  }

  long token() {
    return token;
  }

  int recordBytes() {
    return recordBytes;
  }

  /** The number of the file descriptor in the program; -1 while it is not there. */
  int descriptor() {
    return descriptor;
  }

  void connected(SocketChannel to, int number) {
    socket = to;
    descriptor = number;
    flush();
  }

  /** The program has closed its file descriptor. */
  void close() {
    closed = true;
    descriptor = -1;
    waiting.clear();
  }

  boolean isClosed() {
    return closed;
  }

  /** Adds an event. */
  void add(Struct record) {
    add(record.content());
  }

  void add(byte[] record) {
    if (!closed && waiting.size() < MOST) {
      waiting.add(ByteBuffer.wrap(record));
      flush();
    }
  }

  /** Writes what fits. */
  void flush() {
    SocketChannel to = socket;
    if (to == null || closed) {
      return;
    }
    try {
      while (!waiting.isEmpty()) {
        ByteBuffer next = waiting.element();
        to.write(next);
        if (next.hasRemaining()) {
          return;
        }
        waiting.remove();
      }
    } catch (IOException e) {
      close();
    }
  }
}
