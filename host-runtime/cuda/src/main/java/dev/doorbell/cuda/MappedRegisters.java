package dev.doorbell.cuda;

import dev.doorbell.core.gpu.GpuException;
import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.core.memory.Allocation;
import java.util.LinkedHashMap;
import java.util.Map;
import jcuda.driver.JCudaDriver;
import org.jspecify.annotations.Nullable;

/** Pages of devices that kernels can address: registers and on-chip memory. */
final class MappedRegisters {
  private static final int REGISTER_IO_MEMORY = 0x4;

  private final CudaContext context;

  /** Address for kernels, by the address for the host. */
  private final Map<Long, Long> mapped = new LinkedHashMap<>();

  MappedRegisters(CudaContext context) {
    this.context = context;
  }

  /**
   * Maps a range of host addresses and returns its address for kernels.
   *
   * @param memory the allocation in the fabric that holds the range, or null for a real device
   */
  long map(@Nullable Allocation memory, long hostAddress, long bytes) {
    long start = memory == null ? hostAddress & -AddressSpace.PAGE : memory.address();
    Long known = mapped.get(start);
    // Queue pairs may share a page, which is mapped once.
    if (known == null) {
      known =
          memory == null
              ? mapDevice(start, hostAddress + bytes + AddressSpace.PAGE - 1 & -AddressSpace.PAGE)
              : context.pin(start, memory.size(), CudaContext.PORTABLE_MAPPED, memory.label());
      mapped.put(start, known);
    }
    return known + (hostAddress - start);
  }

  private long mapDevice(long start, long end) {
    try {
      return pinDevice(start, end - start);
    } catch (GpuException e) {
      throw new GpuException(
          e.getMessage()
              + "; mapping registers of a device takes"
              + " NVreg_RegistryDwords=\"PeerMappingOverride=1;\" for the module nvidia, and a"
              + " bare-metal or pass-through IOMMU",
          e);
    }
  }

  /** Pins device memory, or host memory if another process emulates the device. */
  private long pinDevice(long start, long length) {
    String label = "device registers";
    int flags = CudaContext.PORTABLE_MAPPED;
    try {
      return context.pin(start, length, flags | REGISTER_IO_MEMORY, label);
    } catch (GpuException e) {
      try {
        return context.pin(start, length, flags, label);
      } catch (GpuException notMemoryEither) {
        e.addSuppressed(notMemoryEither);
        throw e;
      }
    }
  }

  /** Unmaps a range of a device; does nothing if it is not mapped. */
  void unmap(long hostAddress) {
    long start = hostAddress & -AddressSpace.PAGE;
    if (mapped.remove(start) != null && context.settled()) {
      unpin(start);
    }
  }

  void close() {
    mapped.keySet().forEach(this::unpin);
    mapped.clear();
  }

  private void unpin(long start) {
    context.ask(() -> JCudaDriver.cuMemHostUnregister(CudaContext.host(start)));
  }
}
