package dev.doorbell.softhca.objects;

import dev.doorbell.core.hca.HcaException;
import dev.doorbell.core.memory.Allocation;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.softhca.device.HcaErrno;
import dev.doorbell.softhca.device.HcaFaults;
import dev.doorbell.softhca.device.HcaServices;

/** The on-chip memory of an HCA (MEMIC): how much of it is left. */
public final class OnChipSpace {
  private static final long GRANULE = 64;

  private final HcaServices hca;
  private final long bytes;
  private long free;

  public OnChipSpace(HcaServices hca, long bytes) {
    this.hca = hca;
    this.bytes = bytes;
    this.free = bytes;
  }

  public Allocation allocate(long wanted) {
    long taken = taken(wanted);
    HcaFaults faults = hca.faults();
    if (faults != null && faults.exhausted()) {
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
    Allocation allocation = hca.allocate(MemoryKind.NIC, wanted, hca.name() + " on-chip memory");
    free -= taken;
    return allocation;
  }

  public void free(Allocation allocation) {
    free += taken(allocation.size());
    hca.free(allocation);
  }

  private static long taken(long bytes) {
    return (bytes + GRANULE - 1) & -GRANULE;
  }
}
