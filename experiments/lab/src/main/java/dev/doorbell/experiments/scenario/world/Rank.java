package dev.doorbell.experiments.scenario.world;

import dev.doorbell.core.gpu.Gpu;
import dev.doorbell.core.hca.Hca;
import dev.doorbell.core.hca.ProtectionDomain;
import dev.doorbell.core.memory.MemoryKind;

/**
 * One machine of a world.
 *
 * @param number its rank
 * @param gpu its GPU
 * @param hca its HCA
 * @param domain the protection domain that all its queues and regions belong to
 * @param payload the kind of memory that payload lies in
 */
public record Rank(int number, Gpu gpu, Hca hca, ProtectionDomain domain, MemoryKind payload)
    implements AutoCloseable {
  static Rank of(int number, Gpu gpu, Hca hca, MemoryKind payload) {
    return new Rank(number, gpu, hca, hca.allocateProtectionDomain(), payload);
  }

  @Override
  public void close() {
    domain.close();
    hca.close();
    gpu.close();
  }
}
