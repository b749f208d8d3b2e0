package dev.doorbell.proxy.recovery;

import dev.doorbell.core.agent.Agent;
import dev.doorbell.core.fabric.Access;
import dev.doorbell.core.fabric.Fabric;
import dev.doorbell.core.fabric.ThreadPort;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.mlx5.Doorbell;
import dev.doorbell.core.mlx5.DoorbellRecord;
import dev.doorbell.proxy.SendQueueAccess;
import dev.doorbell.proxy.StoreList;

/** A CPU thread that rings for a queue pair when the host asks for it, and else does nothing. */
final class DoorbellWriter implements Agent, AutoCloseable {
  /** Until something wakes it. */
  private static final long IDLE_NANOS = 1L << 50;

  private final Fabric fabric;
  private final Locus locus;
  private final ThreadPort port;
  private final StoreList stores = new StoreList();

  DoorbellWriter(Fabric fabric, Locus locus) {
    this.fabric = fabric;
    this.locus = locus;
    this.port = fabric.attachThread(locus, this);
  }

  /** Record, fence, doorbell: everything below {@code index} is posted. */
  void ring(SendQueueAccess queue, long index) {
    stores.store32(queue.record(), DoorbellRecord.encode(index), Access.RELEASE | Access.SYS);
    stores.fence(Access.RELEASE | Access.SYS);
    stores.store64(
        queue.doorbell(), Doorbell.encode(index, queue.number24()), Access.MMIO | Access.SYS);
    fabric.wake(this);
  }

  @Override
  public int step(int budget) {
    int work = stores.isEmpty() ? 0 : 1;
    if (stores.drain(port) && work == 0) {
      port.pollFailed(IDLE_NANOS);
    }
    return work;
  }

  @Override
  public String where() {
    return "doorbellWriter at %s: %s".formatted(locus, stores.isEmpty() ? "idle" : "ringing");
  }

  @Override
  public void close() {
    fabric.detach(this);
  }
}
