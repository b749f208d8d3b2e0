package dev.doorbell.interop.shim;

import dev.doorbell.core.hca.HcaException;
import dev.doorbell.core.hca.MemoryRegion;
import dev.doorbell.softhca.DriverAccess;

/** Protection domains, memory regions, address handles. */
final class MemoryCommands {
  private static final int ON_DEMAND = 1 << 6;
  private static final int ZERO_BASED = 1 << 5;
  private static final int LOCAL_WRITE = 1;
  private static final int WRITABLE = 1 | 1 << 1 | 1 << 3;

  /** Local write to huge pages, and what an HCA may ignore. */
  private static final int KNOWN_ACCESS = 0xff | 0x3ff << 20;

  private static final long PAGE = 4096;

  private MemoryCommands() {}

  static void allocatePd(Command command) throws Refusal {
    Context context = command.context();
    Resource.Pd pd =
        new Resource.Pd(
            context.device().hca().allocateProtectionDomain(), context.server().nextPd());
    int handle = context.add(pd);
    command.out(Abi.CORE_OUT, new Struct(4).u32(0, handle));
    command.out(Abi.UHW_OUT, new Struct(4).u32(0, pd.number));
  }

  /** Ends an object whose destruction has no answer. */
  static void destroy(Command command, int attribute, Class<? extends Resource> type)
      throws Refusal {
    int handle = command.handle(attribute);
    command.context().find(type, handle);
    command.context().remove(handle);
  }

  /** {@code struct ib_uverbs_reg_mr}. */
  static void register(Command command) throws Refusal {
    Struct in = command.in(Abi.CORE_IN, 40);
    long start = in.u64(8);
    long length = in.u64(16);
    long address = in.u64(24);
    int access = in.u32(36);
    if ((start & (PAGE - 1)) != (address & (PAGE - 1)) || (access & ~KNOWN_ACCESS) != 0) {
      throw new Refusal(Errno.EINVAL);
    }
    Context context = command.context();
    Resource.Pd pd = context.find(Resource.Pd.class, in.u32(32));
    MemoryRegion region = register(context, pd, start, length, address, access);
    int handle = context.add(new Resource.Mr(region));
    command.out(
        Abi.CORE_OUT, new Struct(12).u32(0, handle).u32(4, region.lkey()).u32(8, region.rkey()));
  }

  /**
   * Registers memory of the program.
   *
   * @param address by which work requests name the first byte
   */
  static MemoryRegion register(
      Context context, Resource.Pd pd, long start, long length, long address, int access)
      throws Refusal {
    if ((access & ON_DEMAND) != 0) {
      throw new Refusal(Errno.EOPNOTSUPP);
    }
    long limit = 1L << ClientProcess.ADDRESS_BITS;
    if (length <= 0 || start < 0 || start >= limit || length > limit - start) {
      throw new Refusal(Errno.EINVAL);
    }
    boolean writes = (access & WRITABLE) != 0;
    if (writes && (access & LOCAL_WRITE) == 0) {
      throw new Refusal(Errno.EINVAL);
    }
    if (!context.process().isMapped(start, length, writes)) {
      throw new Refusal(Errno.EFAULT);
    }
    long first = (access & ZERO_BASED) != 0 ? 0 : address;
    return DriverAccess.register(
        pd.domain,
        first,
        context.process().bus(start),
        length,
        QpState.rights(access),
        DriverAccess.ANY_VARIANT);
  }

  static void queryRegion(Command command) throws Refusal {
    MemoryRegion region = command.context().find(Resource.Mr.class, command.handle(0)).region;
    command.out32(1, region.lkey());
    command.out32(2, region.rkey());
    command.out64(3, region.length());
    command.out64(4, region.address());
  }

  /** {@code struct ib_uverbs_create_ah}. */
  static void createAddressHandle(Command command) throws Refusal {
    Struct in = command.in(Abi.CORE_IN, 56);
    Context context = command.context();
    context.find(Resource.Pd.class, in.u32(16));
    DeviceCommands.requirePort(in.u8(24 + 30));
    long gidLow = in.be64(24 + 8);
    boolean isGlobal = in.u8(24 + 29) != 0;
    if (!isGlobal || in.u8(24 + 20) != 0 || context.device().withGid(in.be64(24), gidLow) == null) {
      throw new Refusal(Errno.EINVAL);
    }
    int handle = context.add(new Resource.Ah());
    command.out(Abi.CORE_OUT, new Struct(4).u32(0, handle));
    // struct mlx5_ib_create_ah_resp: the Ethernet address, first byte first
    long mac = Device.macOf(gidLow);
    Struct answer = new Struct(16).u32(0, 16);
    for (int i = 0; i < 6; i++) {
      answer.u8(4 + i, (int) (mac >>> (8 * (5 - i))) & 0xff);
    }
    command.out(Abi.UHW_OUT, answer);
  }

  /** What an {@link HcaException} is to a program. */
  static int errno(HcaException refused) {
    return refused.errno() == 0 ? Errno.EINVAL : refused.errno();
  }
}
