package dev.doorbell.interop.control;

import dev.doorbell.core.problem.EnvironmentException;
import dev.doorbell.core.problem.Problem;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketTimeoutException;
import java.nio.channels.SocketChannel;
import java.util.concurrent.locks.LockSupport;

/**
 * A TCP address of a process.
 *
 * @param host name or address
 * @param port TCP port
 */
public record HostPort(String host, int port) {
  private static final long PAUSE_NANOS = 20_000_000;

  /**
   * Reads {@code HOST:PORT}, {@code [::1]:PORT} or {@code PORT} of this machine.
   *
   * @throws IllegalArgumentException when the text has another form
   */
  public static HostPort parse(String text) {
    int colon = text.lastIndexOf(':');
    String host = colon < 0 ? "127.0.0.1" : text.substring(0, colon);
    if (host.startsWith("[") && host.endsWith("]")) {
      host = host.substring(1, host.length() - 1);
    }
    try {
      int port = Integer.parseInt(text.substring(colon + 1));
      if (port > 0 && port <= 0xffff && !host.isEmpty()) {
        return new HostPort(host, port);
      }
    } catch (NumberFormatException e) {
      // Reported below.
    }
    throw new IllegalArgumentException("'%s' is no HOST:PORT".formatted(text));
  }

  /**
   * Connects; repeats the attempt until the deadline while the port is closed.
   *
   * @param nanos from now
   * @throws EnvironmentException when no process has answered by then
   */
  public LineChannel connect(long nanos) throws EnvironmentException {
    long deadline = System.nanoTime() + nanos;
    while (true) {
      try {
        SocketChannel channel = SocketChannel.open();
        try {
          long left = deadline - System.nanoTime();
          channel
              .socket()
              .connect(new InetSocketAddress(host, port), (int) Math.max(1, left / 1_000_000));
          return new LineChannel(channel);
        } catch (IOException | RuntimeException e) {
          channel.close();
          throw e;
        }
      } catch (IOException | RuntimeException e) {
        if (e instanceof SocketTimeoutException || System.nanoTime() - deadline >= 0) {
          throw new EnvironmentException(
              Problem.of(
                      "DB-E041",
                      null,
                      "nobody answers at %s within %.1f s: %s"
                          .formatted(this, nanos / 1e9, e.getMessage()))
                  .fix("start it there first: doorbell hca serve --port %d".formatted(port)));
        }
      }
      LockSupport.parkNanos(PAUSE_NANOS);
    }
  }

  @Override
  public String toString() {
    return (host.contains(":") ? "[%s]:%d" : "%s:%d").formatted(host, port);
  }
}
