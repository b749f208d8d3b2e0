package dev.doorbell.interop.shim;

import dev.doorbell.core.hca.MemoryRegion;
import dev.doorbell.core.memory.RawMemory;
import dev.doorbell.interop.shim.ClientProcess.Lease;
import dev.doorbell.softhca.DriverAccess;
import java.io.IOException;

/** On-chip memory (MEMIC): {@code ibv_alloc_dm}, {@code ibv_reg_dm_mr}, {@code ibv_free_dm}. */
final class ChipCommands {
  /** {@code MLX5_IB_UAPI_DM_TYPE_MEMIC}; the others are for flow steering. */
  private static final int MEMIC = 0;

  private static final int ON_DEMAND = 1 << 6;
  private static final int ZERO_BASED = 1 << 5;
  private static final int GRANULE = 64;
  private static final int LARGEST_ALIGNMENT = 6;

  private ChipCommands() {}

  static void allocate(Command command) throws Refusal {
    long bytes = command.in64(Abi.ALLOC_DM_LENGTH);
    if (command.choice(Abi.ALLOC_DM_REQ_TYPE, MEMIC) != MEMIC) {
      throw new Refusal(Errno.EOPNOTSUPP);
    }
    if (bytes <= 0
        || bytes % GRANULE != 0
        || command.in32(Abi.ALLOC_DM_ALIGNMENT) > LARGEST_ALIGNMENT) {
      throw new Refusal(Errno.EINVAL);
    }
    Context context = command.context();
    ChipMemory chip = context.device().chip;
    int page = bytes > ChipMemory.BYTES ? -1 : chip.take(bytes);
    if (page < 0) {
      throw new Refusal(Errno.ENOMEM);
    }
    try {
      Lease lease = context.process().device(ChipMemory.offset(page), bytes);
      RawMemory.fill(lease.address(), bytes, (byte) 0);
      command.outHandle(Abi.ALLOC_DM_HANDLE, context.add(new Resource.Chip(chip, page, lease)));
    } catch (IOException e) {
      chip.give(page, bytes);
      throw new Refusal(Errno.ENOMEM);
    }
    command.out64(Abi.ALLOC_DM_RESP_START_OFFSET, 0);
    command.out(Abi.ALLOC_DM_RESP_PAGE_INDEX, new Struct(Short.BYTES).u16(0, page));
  }

  static void free(Command command) throws Refusal {
    Context context = command.context();
    int handle = command.handle(Abi.DESTROY_HANDLE);
    Resource.Chip chip = context.find(Resource.Chip.class, handle);
    context.remove(handle);
    command.then(Action.discard(ChipMemory.offset(chip.page), chip.lease.bytes()));
  }

  /** Requests name such a region by offsets, as on mlx5. */
  static void register(Command command) throws Refusal {
    Context context = command.context();
    Resource.Pd pd = context.find(Resource.Pd.class, command.handle(Abi.REG_DM_MR_PD_HANDLE));
    Resource.Chip chip = context.find(Resource.Chip.class, command.handle(Abi.REG_DM_MR_DM_HANDLE));
    long offset = command.in64(Abi.REG_DM_MR_OFFSET);
    long length = command.in64(Abi.REG_DM_MR_LENGTH);
    int access = command.in32(Abi.REG_DM_MR_ACCESS_FLAGS);
    long bytes = chip.lease.bytes();
    if ((access & ZERO_BASED) == 0
        || (access & ON_DEMAND) != 0
        || offset < 0
        || length <= 0
        || offset > bytes
        || length > bytes - offset) {
      throw new Refusal(Errno.EINVAL);
    }
    MemoryRegion region =
        DriverAccess.register(
            pd.domain,
            0,
            chip.lease.address() + offset,
            length,
            QpState.rights(access),
            DriverAccess.ANY_VARIANT);
    command.outHandle(Abi.REG_DM_MR_HANDLE, context.add(new Resource.Mr(region, chip)));
    command.out32(Abi.REG_DM_MR_RESP_LKEY, region.lkey());
    command.out32(Abi.REG_DM_MR_RESP_RKEY, region.rkey());
  }
}
