package dev.doorbell.interop.shim.client;

/** A mapping of a part of the file that a client shares, or a part of a GPU's memory. */
public final class Lease {
  private final long address;
  private final long bytes;
  private final Runnable onClose;

  Lease(long address, long bytes, Runnable onClose) {
    this.address = address;
    this.bytes = bytes;
    this.onClose = onClose;
  }

  /**
   * A part of a GPU's memory, which the lease uses until it is closed.
   *
   * @param address by which devices reach it
   */
  Lease(GpuRange of, long address, long bytes) {
    this.address = address;
    this.bytes = bytes;
    GpuRange used = of.use();
    this.onClose = used::close;
  }

  /** Native address of the first byte; by which devices reach it, where it is a GPU's. */
  public long address() {
    return address;
  }

  public long bytes() {
    return bytes;
  }

  public void close() {
    onClose.run();
  }
}
