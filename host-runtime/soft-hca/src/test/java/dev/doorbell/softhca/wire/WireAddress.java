package dev.doorbell.softhca.wire;

import dev.doorbell.core.hca.HcaException;
import dev.doorbell.core.roce.Gid;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Address of an HCA on a wire: its GID and, where it is not the default, the UDP port it listens
 * on. This is what {@code QueuePairAddress.hca} holds for HCAs on such a wire.
 *
 * @param gid its GID
 * @param port UDP port, or 0 for the wire's usual one
 */
public record WireAddress(Gid gid, int port) {
  private static final Pattern WITH_PORT = Pattern.compile("\\[([^\\]]+)](?::(\\d{1,5}))?");
  private static final Pattern IPV4_WITH_PORT = Pattern.compile("(\\d+(?:\\.\\d+){3}):(\\d{1,5})");

  /**
   * Reads {@code 10.0.0.1}, {@code 10.0.0.1:4791}, {@code fe80::1} or {@code [fe80::1]:4791}.
   *
   * @throws HcaException when it is none of these
   */
  public static WireAddress parse(String text) {
    Matcher bracketed = WITH_PORT.matcher(text);
    Matcher dotted = IPV4_WITH_PORT.matcher(text);
    try {
      if (bracketed.matches()) {
        String port = bracketed.group(2);
        return new WireAddress(Gid.parse(bracketed.group(1)), port == null ? 0 : port(port));
      }
      if (dotted.matches()) {
        return new WireAddress(Gid.parse(dotted.group(1)), port(dotted.group(2)));
      }
      return new WireAddress(Gid.parse(text), 0);
    } catch (IllegalArgumentException e) {
      throw new HcaException("'%s' is no address on this wire: %s".formatted(text, e.getMessage()));
    }
  }

  private static int port(String digits) {
    int port = Integer.parseInt(digits);
    if (port < 1 || port > 0xffff) {
      throw new IllegalArgumentException("a port is 1 to 65535");
    }
    return port;
  }

  @Override
  public String toString() {
    if (port == 0) {
      return gid.toString();
    }
    return (gid.isIpv4() ? "%s:%d" : "[%s]:%d").formatted(gid, port);
  }
}
