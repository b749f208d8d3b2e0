package dev.doorbell.verbs.devx;

import dev.doorbell.core.hca.AccessRight;
import dev.doorbell.core.hca.Errno;
import dev.doorbell.core.hca.HcaException;
import dev.doorbell.core.hca.MemoryRegion;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.verbs.generated.verbs.Verbs;
import dev.doorbell.verbs.generated.verbs.ibv_mr;
import dev.doorbell.verbs.library.DeviceOps;
import dev.doorbell.verbs.library.Libraries;
import dev.doorbell.verbs.library.NativeFunction;
import dev.doorbell.verbs.library.NativeFunction.Failure;
import dev.doorbell.verbs.library.VerbsFunctions;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.OptionalInt;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A memory region: memory that the kernel has pinned and the device may access. */
final class VerbsRegion implements MemoryRegion {
  /** Registers a dma-buf as memory region; rdma-core 34. */
  private static final @Nullable NativeFunction REG_DMABUF_MR =
      NativeFunction.find(
          Libraries.VERBS, "ibv_reg_dmabuf_mr", Verbs::ibv_reg_dmabuf_mr$descriptor);

  private static final Failure HOST =
      new Failure(
          "register memory",
          errno ->
              switch (errno) {
                case Errno.ENOMEM ->
                    "raise the limit of locked memory (ulimit -l unlimited; memlock in"
                        + " /etc/security/limits.conf, or --ulimit memlock=-1 for a container)";
                case Errno.EFAULT -> "the range is not mapped, or is memory that cannot be pinned";
                default -> "see dmesg for what the driver says";
              });
  private static final Failure GPU =
      Failure.of(
          "register GPU memory",
          "this driver exports no dma-buf, so the NIC needs nvidia-peermem: modprobe"
              + " nvidia-peermem, or take the open kernel modules (dma-buf), Linux 5.12 and"
              + " rdma-core 34 or later");
  private static final Failure DEREGISTER =
      Failure.of("deregister memory", "this is a fault in Doorbell: something still uses it");

  private final DevxDomain domain;
  private final MemorySegment mr;
  private final long address;
  private final long length;
  private final int lkey;
  private final int rkey;
  private final @Nullable OnChip chip;
  private boolean closed;

  private VerbsRegion(
      DevxDomain domain, MemorySegment mr, long address, long length, @Nullable OnChip chip) {
    this.chip = chip;
    if (chip != null) {
      chip.use();
    }
    this.domain = domain;
    this.mr = mr.reinterpret(ibv_mr.layout().byteSize());
    this.address = address;
    this.length = length;
    this.lkey = ibv_mr.lkey(this.mr);
    this.rkey = ibv_mr.rkey(this.mr);
  }

  /**
   * Registers host memory by its address, GPU memory by dma-buf if it can be exported, else by
   * peermem.
   */
  static VerbsRegion register(
      DevxDomain domain, Memory memory, long offset, long length, Set<AccessRight> rights) {
    long address = memory.address() + offset;
    int access = DevxDomain.accessBits(rights);
    MemorySegment mr;
    OptionalInt exported =
        memory.kind() == MemoryKind.DEVICE ? memory.exportDmaBuf() : OptionalInt.empty();
    if (exported.isPresent()) {
      mr = registerDmaBuf(domain, exported.getAsInt(), offset, length, address, access);
    } else if (memory instanceof OnChip chip) {
      mr = registerOnChip(domain, chip, offset, length, access);
      address = 0;
    } else {
      mr =
          VerbsFunctions.REG_MR_IOVA2.pointer(
              memory.kind() == MemoryKind.DEVICE ? GPU : HOST,
              domain.pd,
              MemorySegment.ofAddress(address),
              length,
              address,
              access);
    }
    return new VerbsRegion(
        domain, mr, address, length, memory instanceof OnChip onChip ? onChip : null);
  }

  /** Registers on-chip memory. Addresses in the region count from its beginning. */
  private static MemorySegment registerOnChip(
      DevxDomain domain, OnChip chip, long offset, long length, int access) {
    MemorySegment function = domain.context.ops.extended(DeviceOps.REG_DM_MR_OFFSET);
    return new NativeFunction(
            "ibv_reg_dm_mr",
            function,
            FunctionDescriptor.of(
                ValueLayout.ADDRESS,
                ValueLayout.ADDRESS,
                ValueLayout.ADDRESS,
                ValueLayout.JAVA_LONG,
                ValueLayout.JAVA_LONG,
                ValueLayout.JAVA_INT))
        .pointer(
            Failure.of("register on-chip memory", "see dmesg for what the driver says"),
            domain.pd,
            chip.handle(),
            offset,
            length,
            access | Verbs.IBV_ACCESS_ZERO_BASED());
  }

  private static MemorySegment registerDmaBuf(
      DevxDomain domain, int fd, long offset, long length, long address, int access) {
    try {
      NativeFunction function = REG_DMABUF_MR;
      if (function == null) {
        throw new HcaException(
            "cannot register GPU memory: this libibverbs has no ibv_reg_dmabuf_mr; update rdma-core"
                + " to 34 or later",
            Errno.ENOSYS);
      }
      return function.pointer(
          new Failure(
              "register GPU memory by dma-buf",
              errno ->
                  errno == Errno.EOPNOTSUPP || errno == Errno.EINVAL
                      ? "the NIC's driver cannot import it: Linux 5.12 or later, and no IOMMU"
                          + " between NIC and GPU in the way"
                      : "see dmesg for what the driver says"),
          domain.pd,
          offset,
          length,
          address,
          fd,
          access);
    } finally {
      Libraries.close(fd);
    }
  }

  @Override
  public int lkey() {
    return lkey;
  }

  @Override
  public int rkey() {
    return rkey;
  }

  @Override
  public long address() {
    return address;
  }

  @Override
  public long length() {
    return length;
  }

  @Override
  public void close() {
    if (!closed) {
      VerbsFunctions.DEREG_MR.require(DEREGISTER, mr);
      closed = true;
      if (chip != null) {
        chip.unuse();
      }
      domain.closed(this);
    }
  }

  @Override
  public String toString() {
    return "memory region 0x%x (%d bytes at 0x%x)".formatted(rkey, length, address);
  }
}
