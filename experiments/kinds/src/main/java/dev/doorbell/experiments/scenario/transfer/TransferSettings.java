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

/** Settings of a transfer. */
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
  static final int STAGING_BYTES = 256 << 10;

  static final int WARP = 32;
  private static final int LINE = 64;
  private static final int COPY_BYTES = 16;
  private static final int MAX_COPY_THREADS = 512;

  enum Doorbell {
    GPU,
    CPU
  }

  boolean byWarp() {
    return scope == Scope.WARP;
  }

  boolean stages() {
    return path.jobPath() == JobView.PATH_STAGE;
  }

  boolean hasHostQueues() {
    return path == TransferPath.STAGED || path == TransferPath.PROXY;
  }

  Placement placement() {
    return hasHostQueues() ? Placement.HOST : queues.placement();
  }

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
