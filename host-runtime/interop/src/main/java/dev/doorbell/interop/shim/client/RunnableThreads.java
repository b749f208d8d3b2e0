package dev.doorbell.interop.shim.client;

import java.io.IOException;
import java.io.RandomAccessFile;
import org.jspecify.annotations.Nullable;

/**
 * The number of threads of the machine that run or could run: the numerator in the fourth field of
 * {@code /proc/loadavg} (proc_loadavg(5)). Where the file cannot be read, no core counts as free.
 */
public final class RunnableThreads implements AutoCloseable {
  private static final String FILE = "/proc/loadavg";

  /** Time for which an answer is used again; the file takes a few microseconds to read. */
  private static final long REUSE_NANOS = 100_000;

  private final int cores;
  private final byte[] text = new byte[64];
  private final @Nullable RandomAccessFile file = open();
  private long readAt = System.nanoTime() - REUSE_NANOS;
  private boolean free;

  /**
   * @param cores of the machine
   */
  public RunnableThreads(int cores) {
    this.cores = cores;
  }

  private static @Nullable RandomAccessFile open() {
    try {
      return new RandomAccessFile(FILE, "r");
    } catch (IOException e) {
      return null;
    }
  }

  /** Returns true if every such thread, the calling one among them, has a core of its own. */
  public boolean haveCores() {
    if (System.nanoTime() - readAt >= REUSE_NANOS) {
      free = count() <= cores;
      readAt = System.nanoTime();
    }
    return free;
  }

  private int count() {
    RandomAccessFile from = file;
    if (from == null) {
      return Integer.MAX_VALUE;
    }
    try {
      from.seek(0);
      return numerator(text, from.read(text));
    } catch (IOException e) {
      return Integer.MAX_VALUE;
    }
  }

  /** The number before the slash, as in "0.20 0.18 0.12 1/80 11206"; the largest int for none. */
  static int numerator(byte[] text, int bytes) {
    int number = 0;
    for (int at = 0; at < bytes; at++) {
      byte c = text[at];
      if (c == '/') {
        return number;
      }
      number = c >= '0' && c <= '9' ? 10 * number + c - '0' : 0;
    }
    return Integer.MAX_VALUE;
  }

  @Override
  public void close() throws IOException {
    RandomAccessFile opened = file;
    if (opened != null) {
      opened.close();
    }
  }
}
