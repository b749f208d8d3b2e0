package dev.doorbell.experiments.session;

import dev.doorbell.core.gpu.Gpu;
import dev.doorbell.core.hca.Hca;
import dev.doorbell.core.hca.ProtectionDomain;

/**
 * One machine of a world.
 *
 * @param number its rank
 * @param gpu its GPU
 * @param hca its HCA
 * @param domain the protection domain that everything of the session lives in
 */
record Rank(int number, Gpu gpu, Hca hca, ProtectionDomain domain) implements AutoCloseable {
  @Override
  public void close() {
    domain.close();
    hca.close();
    gpu.close();
  }
}
