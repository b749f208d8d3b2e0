package dev.doorbell.interop.shim;

import dev.doorbell.core.problem.EnvironmentException;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.core.uverbs.generated.ShimProtocol;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;

/** Takes a port of a served device up or down, from another process. */
public final class PortControl {
  private PortControl() {}

  /**
   * Changes the port of a device; programs get an event.
   *
   * @param folder where the devices are served
   * @param device n of mlx5_n
   * @throws EnvironmentException if no server is there, or the device does not exist
   */
  public static void set(Path folder, int device, boolean up) throws EnvironmentException {
    ByteBuffer hello =
        ByteBuffer.allocate(ShimConnection.HELLO_BYTES).order(ByteOrder.LITTLE_ENDIAN);
    hello.putInt(ShimProtocol.MAGIC).putInt(ShimProtocol.VERSION);
    hello.putInt(ShimProtocol.KIND_CONTROL).putInt(0).putInt(0).putInt(device);
    hello.putLong(up ? ShimProtocol.PORT_UP : ShimProtocol.PORT_DOWN).flip();
    ByteBuffer welcome =
        ByteBuffer.allocate(ShimConnection.WELCOME_BYTES).order(ByteOrder.LITTLE_ENDIAN);
    try (SocketChannel socket = SocketChannel.open(StandardProtocolFamily.UNIX)) {
      socket.connect(UnixDomainSocketAddress.of(ShimServer.socketOf(folder)));
      while (hello.hasRemaining()) {
        socket.write(hello);
      }
      while (welcome.hasRemaining() && socket.read(welcome) >= 0) {
        // The server answers at once, or closes.
      }
    } catch (IOException e) {
      throw new EnvironmentException(
          Problem.of("DB-E049", folder.toString(), "no devices are served there: " + e.getMessage())
              .fix("start 'doorbell hca exec' with the same --at, then try again"));
    }
    if (welcome.hasRemaining() || welcome.getInt(Integer.BYTES) != 0) {
      throw new EnvironmentException(
          Problem.of(
                  "DB-E049",
                  folder.toString(),
                  "%d device(s) are served there; mlx5_%d is none of them"
                      .formatted(ShimServer.servedDevices(folder), device))
              .fix("name mlx5_0 up to the last one"));
    }
  }
}
