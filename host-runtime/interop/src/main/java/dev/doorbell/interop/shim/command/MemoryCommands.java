package dev.doorbell.interop.shim.command;

import dev.doorbell.core.hca.Errno;
import dev.doorbell.core.hca.MemoryRegion;
import dev.doorbell.core.memory.RawMemory;
import dev.doorbell.interop.shim.abi.ErrnoException;
import dev.doorbell.interop.shim.abi.ShimAction;
import dev.doorbell.interop.shim.abi.Struct;
import dev.doorbell.interop.shim.abi.UverbsAbi;
import dev.doorbell.interop.shim.client.ClientProcess;
import dev.doorbell.interop.shim.client.Lease;
import dev.doorbell.interop.shim.object.ClientContext;
import dev.doorbell.interop.shim.object.OnChipPages;
import dev.doorbell.interop.shim.object.QueuePairControl;
import dev.doorbell.interop.shim.object.Resource;
import dev.doorbell.interop.shim.object.ServedDevice;
import dev.doorbell.softhca.DriverAccess;

/**
 * Protection domains, memory regions, address handles, and on-chip memory (MEMIC: {@code
 * ibv_alloc_dm}, {@code ibv_reg_dm_mr}, {@code ibv_free_dm}).
 */
final class MemoryCommands {
  // IBV_ACCESS_*
  private static final int LOCAL_WRITE = 1;
  private static final int WRITABLE = 1 | 1 << 1 | 1 << 3;
  private static final int ZERO_BASED = 1 << 5;
  private static final int ON_DEMAND = 1 << 6;

  /** Local write to huge pages, and the flags that an HCA may ignore. */
  private static final int KNOWN_ACCESS = 0xff | 0x3ff << 20;

  private static final long PAGE = 4096;

  /** {@code MLX5_IB_UAPI_DM_TYPE_MEMIC}; the others are for flow steering. */
  private static final int MEMIC = 0;

  private static final int GRANULE = 64;
  private static final int LARGEST_LOG_ALIGNMENT = 6;

  private MemoryCommands() {}

  static void allocatePd(IoctlCommand command) throws ErrnoException {
    ClientContext context = command.context();
    Resource.Pd pd = createPd(context);
    int handle = context.add(pd);
    command.out(UverbsAbi.CORE_OUT, new Struct(4).u32(0, handle));
    command.out(UverbsAbi.UHW_OUT, new Struct(4).u32(0, pd.number));
  }

  static Resource.Pd createPd(ClientContext context) {
    return new Resource.Pd(
        context.device().hca().allocateProtectionDomain(), context.tables().nextDomain());
  }

  /** {@code struct ib_uverbs_reg_mr}. */
  static void register(IoctlCommand command) throws ErrnoException {
    Struct in = command.in(UverbsAbi.CORE_IN, 40);
    long start = in.u64(8);
    long length = in.u64(16);
    long address = in.u64(24);
    int access = in.u32(36);
    ErrnoException.require(
        (start & (PAGE - 1)) == (address & (PAGE - 1)) && (access & ~KNOWN_ACCESS) == 0,
        Errno.EINVAL);
    ClientContext context = command.context();
    Resource.Pd pd = context.find(Resource.Pd.class, in.u32(32));
    ErrnoException.require((access & ON_DEMAND) == 0, Errno.EOPNOTSUPP);
    boolean writes = (access & WRITABLE) != 0;
    ErrnoException.require(
        ClientProcess.isLegal(start, length) && (!writes || (access & LOCAL_WRITE) != 0),
        Errno.EINVAL);
    ErrnoException.require(context.process().isMapped(start, length, writes), Errno.EFAULT);
    MemoryRegion region =
        DriverAccess.register(
            pd.domain,
            (access & ZERO_BASED) != 0 ? 0 : address,
            context.process().busAddress(start),
            length,
            QueuePairControl.rights(access),
            DriverAccess.ANY_VARIANT);
    int handle = context.add(new Resource.Mr(region, null));
    command.out(
        UverbsAbi.CORE_OUT,
        new Struct(12).u32(0, handle).u32(4, region.lkey()).u32(8, region.rkey()));
  }

  static void queryRegion(IoctlCommand command) throws ErrnoException {
    MemoryRegion region = command.context().find(Resource.Mr.class, command.handle(0)).region;
    command.out32(1, region.lkey());
    command.out32(2, region.rkey());
    command.out64(3, region.length());
    command.out64(4, region.address());
  }

  static void allocateOnChip(IoctlCommand command) throws ErrnoException {
    long bytes = command.in64(UverbsAbi.ALLOC_DM_LENGTH);
    ErrnoException.require(
        command.choice(UverbsAbi.ALLOC_DM_REQ_TYPE, MEMIC) == MEMIC, Errno.EOPNOTSUPP);
    ErrnoException.require(
        bytes > 0
            && bytes % GRANULE == 0
            && command.in32(UverbsAbi.ALLOC_DM_ALIGNMENT) <= LARGEST_LOG_ALIGNMENT,
        Errno.EINVAL);
    ClientContext context = command.context();
    OnChipPages pages = context.device().onChip();
    int page = bytes > OnChipPages.BYTES ? -1 : pages.allocate(bytes);
    ErrnoException.require(page >= 0, Errno.ENOMEM);
    try {
      Lease lease = context.process().leaseDevice(OnChipPages.offset(page), bytes);
      RawMemory.fill(lease.address(), bytes, (byte) 0);
      command.outHandle(
          UverbsAbi.ALLOC_DM_HANDLE, context.add(new Resource.OnChip(pages, page, lease)));
    } catch (ErrnoException e) {
      pages.free(page, bytes);
      throw e;
    }
    command.out64(UverbsAbi.ALLOC_DM_RESP_START_OFFSET, 0);
    command.out(UverbsAbi.ALLOC_DM_RESP_PAGE_INDEX, new Struct(Short.BYTES).u16(0, page));
  }

  static void freeOnChip(IoctlCommand command) throws ErrnoException {
    Resource.OnChip memory =
        command.context().remove(Resource.OnChip.class, command.handle(UverbsAbi.DESTROY_HANDLE));
    command.addAction(ShimAction.discard(OnChipPages.offset(memory.page), memory.lease.bytes()));
  }

  /** Requests name such a region by offsets, as on mlx5. */
  static void registerOnChip(IoctlCommand command) throws ErrnoException {
    ClientContext context = command.context();
    Resource.Pd pd = context.find(Resource.Pd.class, command.handle(UverbsAbi.REG_DM_MR_PD_HANDLE));
    Resource.OnChip memory =
        context.find(Resource.OnChip.class, command.handle(UverbsAbi.REG_DM_MR_DM_HANDLE));
    long offset = command.in64(UverbsAbi.REG_DM_MR_OFFSET);
    long length = command.in64(UverbsAbi.REG_DM_MR_LENGTH);
    int access = command.in32(UverbsAbi.REG_DM_MR_ACCESS_FLAGS);
    long bytes = memory.lease.bytes();
    ErrnoException.require(
        (access & ZERO_BASED) != 0
            && (access & ON_DEMAND) == 0
            && offset >= 0
            && length > 0
            && offset <= bytes
            && length <= bytes - offset,
        Errno.EINVAL);
    MemoryRegion region =
        DriverAccess.register(
            pd.domain,
            0,
            memory.lease.address() + offset,
            length,
            QueuePairControl.rights(access),
            DriverAccess.ANY_VARIANT);
    command.outHandle(UverbsAbi.REG_DM_MR_HANDLE, context.add(new Resource.Mr(region, memory)));
    command.out32(UverbsAbi.REG_DM_MR_RESP_LKEY, region.lkey());
    command.out32(UverbsAbi.REG_DM_MR_RESP_RKEY, region.rkey());
  }

  /** {@code struct ib_uverbs_create_ah}. */
  static void createAddressHandle(IoctlCommand command) throws ErrnoException {
    Struct in = command.in(UverbsAbi.CORE_IN, 56);
    ClientContext context = command.context();
    context.find(Resource.Pd.class, in.u32(16));
    DeviceCommands.requirePort(in.u8(24 + 30));
    long gidLow = in.be64(24 + 8);
    boolean isGlobal = in.u8(24 + 29) != 0;
    ErrnoException.require(
        isGlobal && in.u8(24 + 20) == 0 && context.device().withGid(in.be64(24), gidLow) != null,
        Errno.EINVAL);
    int handle = context.add(new Resource.Ah());
    command.out(UverbsAbi.CORE_OUT, new Struct(4).u32(0, handle));
    // struct mlx5_ib_create_ah_resp: the Ethernet address, first byte first
    long mac = ServedDevice.macOf(gidLow);
    Struct answer = new Struct(16).u32(0, 16);
    for (int i = 0; i < 6; i++) {
      answer.u8(4 + i, (int) (mac >>> (8 * (5 - i))) & 0xff);
    }
    command.out(UverbsAbi.UHW_OUT, answer);
  }
}
