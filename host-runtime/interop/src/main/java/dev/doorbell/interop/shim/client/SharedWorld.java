package dev.doorbell.interop.shim.client;

import dev.doorbell.core.fabric.Fabric;
import java.io.IOException;

/** The window and the fabric of a {@link ServedWorld}, as long as they are served. */
public record SharedWorld(ServedWorld of, GpuWindow window, Fabric fabric)
    implements AutoCloseable {
  /**
   * Creates them.
   *
   * @throws IOException when the system has no memory or no addresses
   */
  public static SharedWorld create(ServedWorld of) throws IOException {
    GpuWindow window = GpuWindow.create();
    return new SharedWorld(of, window, of.create(window.space()));
  }

  @Override
  public void close() {
    fabric.close();
    window.close();
  }
}
