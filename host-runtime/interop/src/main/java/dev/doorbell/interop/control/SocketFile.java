package dev.doorbell.interop.control;

import dev.doorbell.interop.access.PrivateFolder;
import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;

/**
 * A Unix socket in a folder that only its user can enter.
 *
 * @param file absolute
 */
public record SocketFile(Path file) implements ControlPlace {
  /** The usual one of an HCA whose UDP port is {@code port}. */
  public static SocketFile ofPort(int port) {
    return new SocketFile(
        PrivateFolder.ofUser().toAbsolutePath().resolve("hca-%d.socket".formatted(port)));
  }

  @Override
  public SocketChannel open(long nanos) throws IOException {
    return SocketChannel.open(UnixDomainSocketAddress.of(file));
  }

  @Override
  public String fix() {
    return "start it first, as this user: doorbell hca serve; it prints where it is asked";
  }

  @Override
  public String toString() {
    return file.toString();
  }
}
