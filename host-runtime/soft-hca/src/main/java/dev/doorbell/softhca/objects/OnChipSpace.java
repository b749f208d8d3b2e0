package dev.doorbell.softhca.objects;

import dev.doorbell.core.hca.Errno;
import dev.doorbell.core.hca.HcaException;
import dev.doorbell.core.memory.AddressableMemory;
import dev.doorbell.core.memory.Allocation;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.softhca.device.HcaFaults;
import dev.doorbell.softhca.device.HcaServices;
import dev.doorbell.softhca.objects.ObjectOwner.Owned;

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
          Errno.ENOMEM);
    }
    if (wanted <= 0 || taken > free) {
      throw new HcaException(
          "%s cannot allocate %d bytes of on-chip memory: %d of %d bytes are free"
              .formatted(hca.name(), wanted, free, bytes),
          Errno.ENOMEM);
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

  /** A piece of the HCA's on-chip memory (MEMIC). */
  public static final class OnChipMemory extends AddressableMemory implements Owned {
    private final ObjectOwner domain;
    private final Allocation allocation;
    private boolean closed;

    public OnChipMemory(ObjectOwner domain, Allocation allocation) {
      this.domain = domain;
      this.allocation = allocation;
    }

    public Allocation allocation() {
      return allocation;
    }

    @Override
    public MemoryKind kind() {
      return MemoryKind.NIC;
    }

    @Override
    public long address() {
      return allocation.address();
    }

    @Override
    public long size() {
      return allocation.size();
    }

    @Override
    protected void check(String what, long offset, long bytes) {
      if (closed || offset < 0 || bytes < 0 || offset > size() - bytes) {
        throw new IndexOutOfBoundsException(
            "%s of %d bytes at offset %d of %s%s"
                .formatted(what, bytes, offset, allocation, closed ? ", which is closed" : ""));
      }
    }

    @Override
    public void close() {
      if (!closed) {
        domain.closing(this);
        closed = true;
      }
    }

    @Override
    public String toString() {
      return "on-chip memory (%d bytes at 0x%x)".formatted(size(), address());
    }
  }
}
