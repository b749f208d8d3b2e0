package dev.doorbell.interop.control;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.SocketOption;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import jdk.net.ExtendedSocketOptions;
import org.jspecify.annotations.Nullable;

/**
 * A connection that carries lines and never blocks. It ends when a line is incomplete for too long
 * or too long, or when the peer does not read; TCP keep-alive probes find within half a minute that
 * a peer's host is down.
 */
public final class LineChannel implements AutoCloseable {
  /** Largest number of bytes of a line. */
  public static final int MAX_LINE = 64 << 10;

  private static final int WAITING_LINES = 4;
  private static final long UNFINISHED_NANOS = 5_000_000_000L;
  private static final int PROBE_AFTER_SECONDS = 10;
  private static final int PROBE_SECONDS = 5;
  private static final int PROBES = 3;

  private final SocketChannel channel;
  private final ByteBuffer in = ByteBuffer.allocate(MAX_LINE);
  private final ByteBuffer out = ByteBuffer.allocate(WAITING_LINES * MAX_LINE);
  private final String peer;

  /** The part of {@link #in} that has no line end. */
  private int scanned;

  private long inSince;
  private long outSince;
  private @Nullable String ended;

  /** Takes over a connection. */
  public LineChannel(SocketChannel channel) throws IOException {
    this.channel = channel;
    channel.configureBlocking(false);
    set(StandardSocketOptions.TCP_NODELAY, true);
    set(StandardSocketOptions.SO_KEEPALIVE, true);
    set(ExtendedSocketOptions.TCP_KEEPIDLE, PROBE_AFTER_SECONDS);
    set(ExtendedSocketOptions.TCP_KEEPINTERVAL, PROBE_SECONDS);
    set(ExtendedSocketOptions.TCP_KEEPCOUNT, PROBES);
    SocketAddress address = channel.getRemoteAddress();
    peer =
        address instanceof InetSocketAddress inet
            ? inet.getAddress().getHostAddress() + ":" + inet.getPort()
            : "a process of this machine";
  }

  /** Sets what this kind of connection has. */
  private <T> void set(SocketOption<T> option, T value) throws IOException {
    if (channel.supportedOptions().contains(option)) {
      channel.setOption(option, value);
    }
  }

  /** The peer's address and port, for messages. */
  public String peer() {
    return peer;
  }

  /** Returns the reason why the connection has ended; null while it is open. */
  public @Nullable String ended() {
    return ended;
  }

  /** Takes the next complete line, without its end; null when there is none. */
  public @Nullable String poll() {
    if (ended != null) {
      return null;
    }
    flush();
    String line = line();
    if (line == null && ended == null) {
      fill();
      line = line();
      if (line == null && ended == null && in.position() > 0 && isOver(inSince)) {
        end("a line did not end within 5 s");
      }
    }
    return line;
  }

  private void fill() {
    boolean fresh = in.position() == 0;
    try {
      if (channel.read(in) < 0) {
        end("the other end has closed it");
      }
    } catch (IOException e) {
      end("the connection broke: " + e.getMessage());
    }
    if (fresh) {
      inSince = System.nanoTime();
    }
  }

  private @Nullable String line() {
    for (int i = scanned; i < in.position(); i++) {
      if (in.get(i) == '\n') {
        String text = new String(in.array(), 0, i, StandardCharsets.US_ASCII);
        in.flip();
        in.position(i + 1);
        in.compact();
        scanned = 0;
        inSince = System.nanoTime();
        return text;
      }
    }
    scanned = in.position();
    if (!in.hasRemaining()) {
      end("a line is longer than %d bytes".formatted(MAX_LINE));
    }
    return null;
  }

  /** Sends a line, or queues it until the peer reads. */
  public void send(ControlLine line) {
    if (ended != null) {
      return;
    }
    byte[] bytes = (line.text() + "\n").getBytes(StandardCharsets.US_ASCII);
    if (out.position() == 0) {
      outSince = System.nanoTime();
    }
    if (bytes.length > MAX_LINE || bytes.length > out.remaining()) {
      end("the other end does not read its answers");
      return;
    }
    out.put(bytes);
    flush();
  }

  private void flush() {
    if (out.position() == 0) {
      return;
    }
    out.flip();
    try {
      if (channel.write(out) > 0) {
        outSince = System.nanoTime();
      } else if (isOver(outSince)) {
        end("the other end has read nothing for 5 s");
      }
    } catch (IOException e) {
      end("the connection broke: " + e.getMessage());
    }
    out.compact();
  }

  private static boolean isOver(long since) {
    return System.nanoTime() - since > UNFINISHED_NANOS;
  }

  private void end(String why) {
    if (ended == null) {
      ended = why;
      try {
        channel.close();
      } catch (IOException e) {
        // The connection ends anyway.
      }
    }
  }

  @Override
  public void close() {
    end("closed");
  }
}
