package dev.doorbell.interop.shim.client;

import java.lang.foreign.Arena;

/** A mapping of a part of the file that a client shares. */
public final class Lease {
  private final Arena arena;
  private final long address;
  private final long bytes;
  private final Runnable onClose;

  Lease(Arena arena, long address, long bytes, Runnable onClose) {
    this.arena = arena;
    this.address = address;
    this.bytes = bytes;
    this.onClose = onClose;
  }

  /** Native address of the first byte. */
  public long address() {
    return address;
  }

  public long bytes() {
    return bytes;
  }

  public void close() {
    arena.close();
    onClose.run();
  }
}
