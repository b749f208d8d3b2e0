package dev.doorbell.interop.control;

import dev.doorbell.interop.access.AccessToken;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.SocketChannel;
import org.jspecify.annotations.Nullable;

/**
 * A TCP address of a process.
 *
 * @param host name or address
 * @param port TCP port
 * @param token that its clients show, or null
 */
public record HostPort(String host, int port, @Nullable AccessToken token) implements ControlPlace {
  /**
   * Reads {@code HOST:PORT}, {@code [::1]:PORT} or {@code PORT} of this machine, with the token of
   * the environment if there is one.
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
        return new HostPort(host, port, AccessToken.ofEnvironment());
      }
    } catch (NumberFormatException e) {
      // Reported below.
    }
    throw new IllegalArgumentException("'%s' is no HOST:PORT".formatted(text));
  }

  @Override
  public SocketChannel open(long nanos) throws IOException {
    SocketChannel channel = SocketChannel.open();
    try {
      int millis = Math.clamp(nanos / 1_000_000, 1, Integer.MAX_VALUE);
      channel.socket().connect(new InetSocketAddress(host, port), millis);
      return channel;
    } catch (IOException | RuntimeException e) {
      channel.close();
      throw e;
    }
  }

  @Override
  public void greet(LineChannel channel) {
    if (token != null) {
      channel.send(ControlLine.of(LineServer.AUTH).with(LineServer.TOKEN, token.text()));
    }
  }

  @Override
  public String fix() {
    return "start it there first: doorbell hca serve --port %d --control %s".formatted(port, host);
  }

  @Override
  public String toString() {
    return (host.contains(":") ? "[%s]:%d" : "%s:%d").formatted(host, port);
  }
}
