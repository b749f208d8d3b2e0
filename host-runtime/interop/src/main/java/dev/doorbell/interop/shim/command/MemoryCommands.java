package dev.doorbell.interop.shim.command;

import dev.doorbell.core.hca.Errno;
import dev.doorbell.core.memory.RawMemory;
import dev.doorbell.core.roce.Gid;
import dev.doorbell.core.uverbs.generated.UverbsAbi;
import dev.doorbell.interop.shim.abi.ErrnoException;
import dev.doorbell.interop.shim.abi.ShimAction;
import dev.doorbell.interop.shim.abi.Struct;
import dev.doorbell.interop.shim.client.Lease;
import dev.doorbell.interop.shim.object.ClientContext;
import dev.doorbell.interop.shim.object.OnChipPages;
import dev.doorbell.interop.shim.object.QueuePairControl;
import dev.doorbell.interop.shim.object.Resource;
import dev.doorbell.interop.shim.object.ServedDevice;
import dev.doorbell.softhca.SoftProtectionDomain;
import dev.doorbell.softhca.objects.SoftMemoryRegion;

/**
 * Protection domains, address handles, and on-chip memory (MEMIC: {@code ibv_alloc_dm}, {@code
 * ibv_reg_dm_mr}, {@code ibv_free_dm}).
 */
final class MemoryCommands {
  /** {@code MLX5_IB_UAPI_DM_TYPE_MEMIC}; the others are for flow steering. */
  private static final int MEMIC = 0;

  private static final int GRANULE = 64;
  private static final int LARGEST_LOG_ALIGNMENT = 6;

  private MemoryCommands() {}

  static void allocatePd(IoctlCommand command) throws ErrnoException {
    ClientContext context = command.context();
    Resource.Pd pd = createPd(context);
    int handle = command.add(pd);
    command.out(UverbsAbi.CORE_OUT, new Struct(4).u32(0, handle));
    command.out(UverbsAbi.UHW_OUT, new Struct(4).u32(0, pd.number()));
  }

  static Resource.Pd createPd(ClientContext context) {
    return new Resource.Pd(
        context.device().hca().allocateProtectionDomain(), context.tables().nextDomain());
  }

  /** For a program that imports a domain. */
  static void queryPd(IoctlCommand command) throws ErrnoException {
    Resource.Pd pd = command.find(UverbsAbi.QUERY_PD_HANDLE, Resource.Pd.class);
    command.out32(UverbsAbi.QUERY_PD_RESP_PDN, pd.number());
  }

  static void allocateOnChip(IoctlCommand command) throws ErrnoException {
    long wanted = command.in64(UverbsAbi.ALLOC_DM_LENGTH);
    ErrnoException.require(
        command.choice(UverbsAbi.ALLOC_DM_REQ_TYPE, MEMIC) == MEMIC, Errno.EOPNOTSUPP);
    ErrnoException.require(
        wanted > 0 && command.in32(UverbsAbi.ALLOC_DM_ALIGNMENT) <= LARGEST_LOG_ALIGNMENT,
        Errno.EINVAL);
    ErrnoException.require(wanted <= OnChipPages.BYTES, Errno.ENOMEM);
    long bytes = (wanted + GRANULE - 1) & -GRANULE;
    ClientContext context = command.context();
    OnChipPages pages = context.device().onChip();
    int page = pages.allocate(bytes);
    ErrnoException.require(page >= 0, Errno.ENOMEM);
    int handle;
    try {
      Lease lease = context.process().leaseDevice(OnChipPages.offset(page), bytes);
      RawMemory.fill(lease.address(), bytes, (byte) 0);
      handle = command.add(new Resource.OnChip(pages, page, wanted, lease));
    } catch (ErrnoException e) {
      pages.free(page, bytes);
      throw e;
    }
    command.outHandle(UverbsAbi.ALLOC_DM_HANDLE, handle);
    command.out64(UverbsAbi.ALLOC_DM_RESP_START_OFFSET, 0);
    command.out(UverbsAbi.ALLOC_DM_RESP_PAGE_INDEX, new Struct(Short.BYTES).u16(0, page));
  }

  /** For a program that imports on-chip memory. */
  static void queryOnChip(IoctlCommand command) throws ErrnoException {
    Resource.OnChip memory = command.find(UverbsAbi.QUERY_DM_REQ_HANDLE, Resource.OnChip.class);
    command.out64(UverbsAbi.QUERY_DM_RESP_START_OFFSET, 0);
    command.out(UverbsAbi.QUERY_DM_RESP_PAGE_INDEX, new Struct(Short.BYTES).u16(0, memory.page));
    command.out64(UverbsAbi.QUERY_DM_RESP_LENGTH, memory.lease.bytes());
  }

  static void freeOnChip(IoctlCommand command) throws ErrnoException {
    Resource.OnChip memory = command.remove(UverbsAbi.DESTROY_HANDLE, Resource.OnChip.class);
    command.addAction(ShimAction.discard(OnChipPages.offset(memory.page), memory.lease.bytes()));
  }

  /** Requests name such a region by offsets, as on mlx5. */
  static void registerOnChip(IoctlCommand command) throws ErrnoException {
    Resource.Pd pd = command.find(UverbsAbi.REG_DM_MR_PD_HANDLE, Resource.Pd.class);
    Resource.OnChip memory = command.find(UverbsAbi.REG_DM_MR_DM_HANDLE, Resource.OnChip.class);
    long offset = command.in64(UverbsAbi.REG_DM_MR_OFFSET);
    long length = command.in64(UverbsAbi.REG_DM_MR_LENGTH);
    int access = command.in32(UverbsAbi.REG_DM_MR_ACCESS_FLAGS);
    long bytes = memory.bytes;
    ErrnoException.require(
        (access & UverbsAbi.ACCESS_ZERO_BASED) != 0
            && (access & UverbsAbi.ACCESS_ON_DEMAND) == 0
            && offset >= 0
            && length >= 0
            && offset <= bytes
            && length <= bytes - offset,
        Errno.EINVAL);
    SoftMemoryRegion region =
        pd.domain()
            .register(
                0,
                memory.lease.address() + offset,
                length,
                QueuePairControl.rights(access),
                SoftProtectionDomain.ANY_VARIANT);
    command.outHandle(
        UverbsAbi.REG_DM_MR_HANDLE, command.add(new Resource.Mr(region, memory, null)));
    command.out32(UverbsAbi.REG_DM_MR_RESP_LKEY, region.lkey());
    command.out32(UverbsAbi.REG_DM_MR_RESP_RKEY, region.rkey());
  }

  /** {@code struct ib_uverbs_create_ah}. */
  static void createAddressHandle(IoctlCommand command) throws ErrnoException {
    Struct in = command.in(UverbsAbi.CORE_IN, 56);
    ClientContext context = command.context();
    context.find(Resource.Pd.class, in.u32(16));
    DeviceCommands.requirePort(in.u8(24 + 30));
    Gid destination = new Gid(in.be64(24), in.be64(24 + 8));
    ServedDevice peer = context.device().withGid(destination.high(), destination.low());
    boolean isGlobal = in.u8(24 + 29) != 0;
    if (!isGlobal
        || in.u8(24 + 20) >= context.device().gids().size()
        || (peer == null && !destination.isMulticast())) {
      throw new ErrnoException(Errno.EINVAL);
    }
    int handle = command.add(new Resource.Ah());
    command.out(UverbsAbi.CORE_OUT, new Struct(4).u32(0, handle));
    // struct mlx5_ib_create_ah_resp: the Ethernet address, first byte first
    long mac = peer == null ? destination.multicastMac() : peer.mac();
    Struct answer = new Struct(16).u32(0, 16);
    for (int i = 0; i < 6; i++) {
      answer.u8(4 + i, (int) (mac >>> (8 * (5 - i))) & 0xff);
    }
    command.out(UverbsAbi.UHW_OUT, answer);
  }
}
