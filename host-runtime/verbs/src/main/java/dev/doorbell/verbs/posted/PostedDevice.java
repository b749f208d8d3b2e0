package dev.doorbell.verbs.posted;

import dev.doorbell.core.fabric.DevicePort;
import dev.doorbell.core.fabric.Fabric;
import dev.doorbell.core.hca.Errno;
import dev.doorbell.core.hca.HcaException;
import dev.doorbell.core.memory.Allocation;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.mlx5.Doorbell;
import dev.doorbell.verbs.device.DeviceContext;
import java.util.function.LongConsumer;

/** An opened device and its doorbell pages in the fabric, as the queues on it need them. */
public final class PostedDevice implements AutoCloseable {
  private static final int MAX_SEGMENTS = 16;
  private static final int FIRST_QUEUE = 0x100;

  private final Fabric fabric;
  private final DevicePort fabricPort;
  private final Locus locus;
  private final LongConsumer doorbells;
  private int queuesCreated;

  public final DeviceContext context;

  /**
   * @param locus where doorbell pages lie
   * @param port of the HCA's agent: stores to doorbell pages arrive there
   * @param doorbells takes what is stored, in host byte order
   */
  public PostedDevice(
      DeviceContext context, Fabric fabric, DevicePort port, Locus locus, LongConsumer doorbells) {
    this.context = context;
    this.fabric = fabric;
    this.fabricPort = port;
    this.locus = locus;
    this.doorbells = doorbells;
  }

  /** Segments of a work request. */
  public int maxSegments() {
    return Math.min(MAX_SEGMENTS, context.maxSegments);
  }

  /** Returns a number for a completion queue: verbs does not reveal its own. */
  int nextQueueNumber() {
    return FIRST_QUEUE + queuesCreated++;
  }

  void requireReadable(Memory memory) {
    if (!fabric.memory().accessibleRange(memory.address(), memory.size())) {
      throw new HcaException(
          "%s posts from the CPU, which cannot address %s memory here; place rings and records in host memory"
              .formatted(context.name, memory.kind().word()),
          Errno.EINVAL);
    }
  }

  /** Allocates a doorbell page. A store to it may name any queue of the device. */
  Allocation allocatePage(String label) {
    Allocation page = fabric.memory().allocate(MemoryKind.UAR, locus, Doorbell.UAR_BYTES, label);
    fabricPort.onMmio(
        page.address(), (address, source, bytes) -> doorbells.accept(Doorbell.read(source)));
    return page;
  }

  void freePage(Allocation page) {
    fabricPort.offMmio(page.address());
    fabric.memory().free(page);
  }

  @Override
  public void close() {
    context.close();
  }
}
