package dev.doorbell.experiments.scenario.transfer;

import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.queue.JobView;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.scenario.kernel.TransferPath;
import dev.doorbell.experiments.scenario.kind.QueueSettings;
import dev.doorbell.experiments.scenario.kind.QueueSettings.Dma;
import dev.doorbell.experiments.scenario.kind.QueueSettings.Scope;
import dev.doorbell.experiments.scenario.kind.QueueSettings.SignalName;
import dev.doorbell.experiments.scenario.world.Connection;
import dev.doorbell.experiments.scenario.world.Placement;

/**
 * Settings of a transfer.
 *
 * @param size bytes of a message
 * @param ranks of kernels that run at all ranks
 * @param offset bytes by which payload and inbox miss their natural alignment
 * @param doorbell who rings
 * @param scope who posts a message together
 * @param threads of a block; 1: as many as the copying needs
 * @param qps queue pairs
 * @param window messages of a poster in flight
 * @param chunk most bytes of a slot of the staging area
 * @param payload memory of payload and inbox
 * @param dma how software HCAs reach the memory of a real GPU
 * @param relaxed whether PCIe may reorder the payload's writes
 * @param signal what makes signals come behind their data
 */
record TransferSettings(
    Point point,
    int size,
    TransferPath path,
    int ranks,
    int offset,
    QueueSettings queues,
    Doorbell doorbell,
    Scope scope,
    int threads,
    int qps,
    int window,
    int chunk,
    MemoryKind payload,
    Dma dma,
    boolean relaxed,
    SignalName signal) {
  /** Bytes of the staging area. */
  static final int STAGING_BYTES = 256 << 10;

  static final int WARP = 32;
  private static final int LINE = 64;
  private static final int COPY_BYTES = 16;
  private static final int MAX_COPY_THREADS = 512;

  /** Who rings. */
  enum Doorbell {
    GPU,
    CPU
  }

  /** Whether the lanes of a warp post a message together, a piece each. */
  boolean byWarp() {
    return scope == Scope.WARP;
  }

  /** Whether kernels copy the payload to a staging area. */
  boolean stages() {
    return path.jobPath() == JobView.PATH_STAGE;
  }

  /** Whether the path puts its queues into host memory, wherever the settings want them. */
  boolean hasHostQueues() {
    return path == TransferPath.STAGED || path == TransferPath.PROXY;
  }

  Placement placement() {
    return hasHostQueues() ? Placement.HOST : queues.placement();
  }

  /** Whether an HCA has to reach GPU memory. */
  boolean touchesGpu() {
    return payload != MemoryKind.HOST || placement().touchesGpu();
  }

  Connection.Ringing ringing() {
    if (path == TransferPath.PROXY) {
      return Connection.Ringing.PROXY;
    }
    return doorbell == Doorbell.CPU ? Connection.Ringing.CPU : Connection.Ringing.GPU;
  }

  /**
   * Bytes of a slot of the staging area: whole cache lines, and no more than a message has, so that
   * as many messages as possible are in flight.
   */
  int slotBytes() {
    long lines = ((long) size + LINE - 1) / LINE * LINE;
    return (int) Math.min(lines, chunk);
  }

  /** Threads of a block: one posts, and more help where the kernel copies. */
  int threadsOfBlock() {
    if (byWarp()) {
      return WARP;
    }
    int copied = Math.min(size, slotBytes());
    if (threads > 1 || !stages() || copied <= COPY_BYTES) {
      return threads;
    }
    int useful = Math.ceilDiv(copied, COPY_BYTES);
    return Math.min(MAX_COPY_THREADS, Math.ceilDiv(useful, WARP) * WARP);
  }
}
