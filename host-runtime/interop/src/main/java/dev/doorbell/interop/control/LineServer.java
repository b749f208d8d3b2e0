package dev.doorbell.interop.control;

import dev.doorbell.core.problem.EnvironmentException;
import dev.doorbell.core.problem.Problem;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import org.jspecify.annotations.Nullable;

/** Accepts {@link LineChannel}s; never blocks. */
public final class LineServer implements AutoCloseable {
  private final ServerSocketChannel channel;
  private final int port;

  /**
   * Listens.
   *
   * @param port 0 for any free one
   * @throws EnvironmentException when the port is in use or the address is not this machine's
   */
  public LineServer(String host, int port) throws EnvironmentException {
    InetSocketAddress address = new InetSocketAddress(host, port);
    ServerSocketChannel opened = null;
    try {
      opened = ServerSocketChannel.open();
      opened.configureBlocking(false);
      opened.setOption(StandardSocketOptions.SO_REUSEADDR, true);
      if (address.isUnresolved()) {
        throw new IOException("no such host");
      }
      opened.bind(address);
      this.port = ((InetSocketAddress) opened.getLocalAddress()).getPort();
    } catch (IOException e) {
      close(opened);
      throw new EnvironmentException(
          Problem.of(
                  "DB-E040",
                  null,
                  "cannot listen on %s:%d: %s".formatted(host, port, e.getMessage()))
              .fix("choose another port, or end the process that uses this one"));
    }
    this.channel = opened;
  }

  /** The port that it listens on. */
  public int port() {
    return port;
  }

  /** The next connection, or null when there is none. */
  public @Nullable LineChannel accept() {
    try {
      SocketChannel accepted = channel.accept();
      return accepted == null ? null : new LineChannel(accepted);
    } catch (IOException e) {
      return null; // The peer has disconnected again.
    }
  }

  private static void close(@Nullable ServerSocketChannel opened) {
    if (opened != null) {
      try {
        opened.close();
      } catch (IOException e) {
        // Nothing depends on it any more.
      }
    }
  }

  @Override
  public void close() {
    close(channel);
  }
}
