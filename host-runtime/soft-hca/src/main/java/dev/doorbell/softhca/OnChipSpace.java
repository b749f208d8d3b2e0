package dev.doorbell.softhca;

import dev.doorbell.core.hca.HcaException;
import dev.doorbell.core.memory.Allocation;
import dev.doorbell.core.memory.MemoryKind;

/** The on-chip memory of an HCA (MEMIC): how much of it is left. */
final class OnChipSpace {
  private static final long GRANULE = 64;

  private final SoftHca hca;
  private final long bytes;
  private long free;

  OnChipSpace(SoftHca hca, long bytes) {
    this.hca = hca;
    this.bytes = bytes;
    this.free = bytes;
  }

  Allocation allocate(long wanted) {
    long taken = taken(wanted);
    if (hca.faults != null && hca.faults.exhausted()) {
      throw new HcaException(
          "%s cannot allocate %d bytes of on-chip memory: a fault plan says that none is left"
              .formatted(hca.name(), wanted),
          HcaErrno.ENOMEM);
    }
    if (wanted <= 0 || taken > free) {
      throw new HcaException(
          "%s cannot allocate %d bytes of on-chip memory: %d of %d bytes are free"
              .formatted(hca.name(), wanted, free, bytes),
          HcaErrno.ENOMEM);
    }
    Allocation allocation =
        hca.allocatePage(MemoryKind.NIC, wanted, hca.name() + " on-chip memory");
    free -= taken;
    return allocation;
  }

  void free(Allocation allocation) {
    free += taken(allocation.size());
    hca.freePage(allocation);
  }

  private static long taken(long bytes) {
    return (bytes + GRANULE - 1) & -GRANULE;
  }
}
