package dev.doorbell.interop.shim.client;

import dev.doorbell.core.gpu.SharedGpus;
import java.util.List;

/** Memory of a GPU that a program has allocated and this process has opened, while it has users. */
public final class GpuRange {
  private final SharedGpus.Range opened;
  private final long start;
  private final long end;
  private int users = 1;

  /**
   * Has one user.
   *
   * @param pieces what was opened
   */
  GpuRange(SharedGpus.Range opened, List<SharedGpus.Piece> pieces) {
    this.opened = opened;
    this.start = pieces.getFirst().start();
    this.end = pieces.getLast().start() + pieces.getLast().bytes();
  }

  /** True when it has all these bytes, by the program's addresses. */
  public boolean contains(long address, long bytes) {
    return address >= start && bytes >= 0 && address <= end && bytes <= end - address;
  }

  /** The address by which devices reach a byte that the program has at {@code address}. */
  public long busAddress(long address) {
    return ClientFabric.GPU | (opened.address() + (address - start));
  }

  /** Adds a user. */
  public GpuRange use() {
    users++;
    return this;
  }

  /** A user has ended; the last one closes the memory. */
  public void close() {
    if (--users == 0) {
      opened.close();
    }
  }
}
