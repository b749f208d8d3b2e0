package dev.doorbell.interop.shim.client;

import dev.doorbell.core.fabric.Fabric;
import java.io.IOException;

/** The window and the fabric of a {@link ServedWorld}, as long as they are served. */
public final class SharedWorld implements AutoCloseable {
  private final ServedWorld of;
  private final GpuWindow window;
  private final Fabric fabric;

  private SharedWorld(ServedWorld of, GpuWindow window) {
    this.of = of;
    this.window = window;
    this.fabric = of.create(window.space());
  }

  /**
   * Creates them.
   *
   * @throws IOException when the system has no memory or no addresses
   */
  public static SharedWorld create(ServedWorld of) throws IOException {
    return new SharedWorld(of, GpuWindow.create());
  }

  public ServedWorld of() {
    return of;
  }

  public GpuWindow window() {
    return window;
  }

  public Fabric fabric() {
    return fabric;
  }

  @Override
  public void close() {
    fabric.close();
    window.close();
  }
}
