package dev.doorbell.interop.control;

import dev.doorbell.core.problem.EnvironmentException;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.interop.access.AccessToken;
import dev.doorbell.interop.access.PrivateFolder;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayDeque;
import java.util.Iterator;
import org.jspecify.annotations.Nullable;

/**
 * Accepts {@link LineChannel}s; never blocks. With a token, a connection is handed out when its
 * first line has shown the token: {@code auth token=...}, which has no answer of its own.
 */
public final class LineServer implements AutoCloseable {
  /** The first line of a connection with a token. */
  static final String AUTH = "auth";

  /** Its value. */
  static final String TOKEN = "token";

  private static final long GREETING_NANOS = 5_000_000_000L;

  /** Connections that have not shown the token yet; a new one ends the oldest. */
  private static final int MAX_GREETING = 64;

  private final ServerSocketChannel channel;
  private final ControlPlace place;
  private final @Nullable AccessToken token;
  private final ArrayDeque<Greeting> greetings = new ArrayDeque<>();

  /** A connection that has not shown the token. */
  private static final class Greeting {
    final LineChannel channel;
    final long since = System.nanoTime();

    /** The refusal was sent; the client may read it until its deadline. */
    boolean refused;

    Greeting(LineChannel channel) {
      this.channel = channel;
    }

    boolean isOver() {
      return channel.ended() != null || System.nanoTime() - since > GREETING_NANOS;
    }
  }

  private LineServer(ServerSocketChannel channel, ControlPlace place, @Nullable AccessToken token) {
    this.channel = channel;
    this.place = place;
    this.token = token;
  }

  /**
   * Listens on TCP.
   *
   * @param at port 0 for any free one; clients have to show its token, if there is one
   * @throws EnvironmentException when the port is in use or the address is not this machine's
   */
  public static LineServer tcp(HostPort at) throws EnvironmentException {
    InetSocketAddress address = new InetSocketAddress(at.host(), at.port());
    ServerSocketChannel opened = null;
    try {
      opened = ServerSocketChannel.open();
      opened.configureBlocking(false);
      opened.setOption(StandardSocketOptions.SO_REUSEADDR, true);
      if (address.isUnresolved()) {
        throw new IOException("no such host");
      }
      opened.bind(address);
      int port = ((InetSocketAddress) opened.getLocalAddress()).getPort();
      return new LineServer(opened, new HostPort(at.host(), port, at.token()), at.token());
    } catch (IOException e) {
      close(opened);
      throw failure(at, e.getMessage(), "choose another port, or end the process that uses it");
    }
  }

  /**
   * Listens on a Unix socket of mode 0600 in a folder that only this user can enter, which is
   * created if it does not exist. A socket file that nobody listens on is replaced.
   *
   * @throws EnvironmentException when another process listens there, or others can enter the folder
   */
  public static LineServer local(SocketFile at) throws EnvironmentException {
    ServerSocketChannel opened = null;
    try {
      Path above = at.file().toAbsolutePath().getParent();
      Path file =
          PrivateFolder.open(above == null ? Path.of("/") : above).resolve(at.file().getFileName());
      if (isAnswered(file)) {
        throw new IOException("another process answers there");
      }
      Files.deleteIfExists(file);
      opened = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
      opened.configureBlocking(false);
      opened.bind(UnixDomainSocketAddress.of(file));
      Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
      return new LineServer(opened, new SocketFile(file), null);
    } catch (IOException e) {
      close(opened);
      throw failure(
          at, e.getMessage(), "name a socket file in a folder of your own (mode 0700): --control");
    }
  }

  private static boolean isAnswered(Path file) {
    try (SocketChannel probe = SocketChannel.open(StandardProtocolFamily.UNIX)) {
      return probe.connect(UnixDomainSocketAddress.of(file));
    } catch (IOException e) {
      return false;
    }
  }

  private static EnvironmentException failure(ControlPlace at, @Nullable String why, String fix) {
    return new EnvironmentException(
        Problem.of("DB-E040", null, "cannot listen on %s: %s".formatted(at, why)).fix(fix));
  }

  /** Returns the place at which it listens. */
  public ControlPlace place() {
    return place;
  }

  /** The next connection that may ask, or null when there is none. */
  public @Nullable LineChannel accept() {
    LineChannel accepted = next();
    AccessToken secret = token;
    if (secret == null) {
      return accepted;
    }
    if (accepted != null) {
      if (greetings.size() == MAX_GREETING) {
        greetings.remove().channel.close();
      }
      greetings.add(new Greeting(accepted));
    }
    for (Iterator<Greeting> each = greetings.iterator(); each.hasNext(); ) {
      Greeting greeting = each.next();
      String line = greeting.channel.poll();
      if (line != null && !greeting.refused) {
        if (shows(secret, line)) {
          each.remove();
          return greeting.channel;
        }
        greeting.refused = true;
        greeting.channel.send(
            ControlLine.error("the token of this server is needed, and was not shown"));
      }
      if (greeting.isOver()) {
        each.remove();
        greeting.channel.close();
      }
    }
    return null;
  }

  private static boolean shows(AccessToken secret, String line) {
    try {
      ControlLine first = ControlLine.parse(line);
      return first.verb().equals(AUTH) && secret.matches(first.word(TOKEN));
    } catch (ControlLine.Refused e) {
      return false;
    }
  }

  private @Nullable LineChannel next() {
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
    greetings.forEach(greeting -> greeting.channel.close());
    close(channel);
    if (place instanceof SocketFile(Path file)) {
      try {
        Files.deleteIfExists(file);
      } catch (IOException e) {
        // The next one to listen there deletes it.
      }
    }
  }
}
