package dev.doorbell.experiments.scenario.kind;

import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.experiments.scenario.world.Placement;

/**
 * Settings of queue pairs, for every kind of points that has some.
 *
 * @param sq memory of the send ring
 * @param cq memory of the completion ring
 * @param record memory of the doorbell record
 * @param depth of the send ring in 64-byte blocks
 * @param mtu path MTU in bytes
 * @param nic what the HCAs promise
 */
public record QueueSettings(
    MemoryKind sq, MemoryKind cq, MemoryKind record, int depth, int mtu, AdapterName nic) {
  /** Where the queues lie. */
  public Placement placement() {
    return new Placement(sq, cq, record);
  }
}
