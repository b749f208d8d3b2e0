package dev.doorbell.interop.shim.command;

import dev.doorbell.core.hca.AccessRight;
import dev.doorbell.core.hca.Errno;
import dev.doorbell.core.hca.HcaException;
import dev.doorbell.core.uverbs.generated.UverbsAbi;
import dev.doorbell.interop.shim.abi.ErrnoException;
import dev.doorbell.interop.shim.abi.PagesNotShared;
import dev.doorbell.interop.shim.abi.Struct;
import dev.doorbell.interop.shim.client.ClientProcess;
import dev.doorbell.interop.shim.client.GpuRange;
import dev.doorbell.interop.shim.object.ClientContext;
import dev.doorbell.interop.shim.object.QueuePairControl;
import dev.doorbell.interop.shim.object.Resource;
import dev.doorbell.interop.shim.object.Resource.Registration;
import dev.doorbell.softhca.SoftProtectionDomain;
import dev.doorbell.softhca.objects.SoftMemoryRegion;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Memory regions. No region pins its pages: an access finds the memory that the program has there
 * then. On-demand paging (ODP) is therefore a registration without the check that memory is mapped.
 */
final class RegionCommands {
  // IBV_ACCESS_*
  private static final int WRITABLE = 1 | 1 << 1 | 1 << 3;

  /** Local write to huge pages, and the flags that an HCA may ignore. */
  private static final int KNOWN_ACCESS = 0xff | 0x3ff << 20;

  private static final long PAGE = 4096;

  /** The length by which a program registers all of its addresses. */
  private static final long IMPLICIT = -1;

  /** Bytes of {@code struct ib_uverbs_sge}. */
  private static final int SGE_BYTES = 16;

  private RegionCommands() {}

  /** {@code struct ib_uverbs_reg_mr}. */
  static void register(IoctlCommand command) throws ErrnoException, PagesNotShared {
    Struct in = command.in(UverbsAbi.CORE_IN, 40);
    ClientContext context = command.context();
    Registration wanted =
        new Registration(
            context.find(Resource.Pd.class, in.u32(32)),
            in.u64(8),
            in.u64(16),
            in.u64(24),
            in.u32(36));
    GpuRange gpu = gpuMemory(context, wanted);
    SoftMemoryRegion region = register(context, wanted, gpu, null);
    int handle = command.add(new Resource.Mr(region, null, wanted).on(gpu));
    command.out(
        UverbsAbi.CORE_OUT,
        new Struct(12).u32(0, handle).u32(4, region.lkey()).u32(8, region.rkey()));
  }

  /** {@code ibv_reg_dmabuf_mr}. */
  static void registerExported(IoctlCommand command) throws ErrnoException, PagesNotShared {
    long bytes = command.in64(3);
    long start = exported(command, 5, command.in64(2), bytes);
    Registration wanted =
        new Registration(
            command.find(1, Resource.Pd.class), start, bytes, command.in64(4), command.in32(6));
    GpuRange gpu = gpuMemory(command.context(), wanted);
    SoftMemoryRegion region = register(command.context(), wanted, gpu, null);
    command.outHandle(0, command.add(new Resource.Mr(region, null, wanted).on(gpu)));
    command.out32(7, region.lkey());
    command.out32(8, region.rkey());
  }

  /**
   * The address of a part of a dma-buf, which emulated GPUs alone have.
   *
   * @param file the attribute with the descriptor
   */
  static long exported(IoctlCommand command, int file, long offset, long bytes)
      throws ErrnoException {
    ErrnoException.require(command.context().tables().emulatedGpus, Errno.EOPNOTSUPP);
    return command.context().process().exported(command.handle(file), offset, bytes);
  }

  /** The memory of a GPU that is to be registered, or null: memory of the host. */
  private static @Nullable GpuRange gpuMemory(ClientContext context, Registration wanted)
      throws ErrnoException, PagesNotShared {
    int access = wanted.access();
    boolean writes = (access & WRITABLE) != 0;
    long start = wanted.start();
    ErrnoException.require(
        (start & (PAGE - 1)) == (wanted.address() & (PAGE - 1))
            && (access & ~KNOWN_ACCESS) == 0
            && ClientProcess.isLegal(start, bytes(wanted))
            && (!writes || (access & UverbsAbi.ACCESS_LOCAL_WRITE) != 0),
        Errno.EINVAL);
    context.device().requirePath(start);
    boolean onDemand = (access & UverbsAbi.ACCESS_ON_DEMAND) != 0;
    return onDemand || context.process().isMapped(start, wanted.bytes(), writes)
        ? null
        : context.process().take(start, wanted.bytes());
  }

  private static long bytes(Registration wanted) {
    boolean implicit =
        (wanted.access() & UverbsAbi.ACCESS_ON_DEMAND) != 0
            && wanted.start() == 0
            && wanted.bytes() == IMPLICIT;
    return implicit ? 1L << ClientProcess.ADDRESS_BITS : wanted.bytes();
  }

  /**
   * Registers memory.
   *
   * @param gpu the memory that it is, closed where that fails; null: the program's own
   * @param old ends in favour of the new region, which has its key; null for none
   */
  private static SoftMemoryRegion register(
      ClientContext context,
      Registration wanted,
      @Nullable GpuRange gpu,
      @Nullable SoftMemoryRegion old) {
    long start = wanted.start();
    SoftProtectionDomain domain = wanted.pd().domain();
    long address = (wanted.access() & UverbsAbi.ACCESS_ZERO_BASED) != 0 ? 0 : wanted.address();
    long memory = gpu == null ? context.process().busAddress(start) : gpu.busAddress(start);
    long bytes = bytes(wanted);
    Set<AccessRight> rights = QueuePairControl.rights(wanted.access());
    try {
      return old == null
          ? domain.register(address, memory, bytes, rights, SoftProtectionDomain.ANY_VARIANT)
          : domain.replace(old, address, memory, bytes, rights);
    } catch (HcaException e) {
      if (gpu != null) {
        gpu.close();
      }
      throw e;
    }
  }

  /**
   * {@code struct ib_uverbs_rereg_mr}: the region ends and another one begins, with its key. If
   * that fails the first one stays.
   */
  static void change(IoctlCommand command) throws ErrnoException, PagesNotShared {
    Struct in = command.in(UverbsAbi.CORE_IN, 48);
    ClientContext context = command.context();
    Resource.Mr region = context.find(Resource.Mr.class, in.u32(8));
    Registration now = ErrnoException.present(region.registration, Errno.EOPNOTSUPP);
    int flags = in.u32(12);
    ErrnoException.require(
        flags != 0
            && (flags
                    & ~(UverbsAbi.REREG_TRANSLATION
                        | UverbsAbi.REREG_DOMAIN
                        | UverbsAbi.REREG_ACCESS))
                == 0,
        Errno.EINVAL);
    boolean moves = (flags & UverbsAbi.REREG_TRANSLATION) != 0;
    Registration next =
        new Registration(
            (flags & UverbsAbi.REREG_DOMAIN) != 0
                ? context.find(Resource.Pd.class, in.u32(40))
                : now.pd(),
            moves ? in.u64(16) : now.start(),
            moves ? in.u64(24) : now.bytes(),
            moves ? in.u64(32) : now.address(),
            (flags & UverbsAbi.REREG_ACCESS) != 0 ? in.u32(44) : now.access());
    GpuRange gpu = gpuMemory(context, next);
    region.replace(register(context, next, gpu, region.region()), next, gpu);
    command.out(
        UverbsAbi.CORE_OUT,
        new Struct(8).u32(0, region.region().lkey()).u32(4, region.region().rkey()));
  }

  static void query(IoctlCommand command) throws ErrnoException {
    SoftMemoryRegion region = command.find(0, Resource.Mr.class).region();
    command.out32(1, region.lkey());
    command.out32(2, region.rkey());
    command.out64(3, region.length());
    command.out64(4, region.address());
  }

  /** Prefetching finds every page where it is; only regions of the domain can be named. */
  static void advise(IoctlCommand command) throws ErrnoException {
    ClientContext context = command.context();
    Resource.Pd pd = command.find(UverbsAbi.ADVISE_MR_PD_HANDLE, Resource.Pd.class);
    int advice = command.choice(UverbsAbi.ADVISE_MR_ADVICE, UverbsAbi.ADVICE_PREFETCH);
    ErrnoException.require(
        advice == UverbsAbi.ADVICE_PREFETCH
            || advice == UverbsAbi.ADVICE_PREFETCH_WRITE
            || advice == UverbsAbi.ADVICE_PREFETCH_NO_FAULT,
        Errno.EOPNOTSUPP);
    Struct list = command.in(UverbsAbi.ADVISE_MR_SGE_LIST, SGE_BYTES);
    for (int at = 0; at + SGE_BYTES <= list.size(); at += SGE_BYTES) {
      int key = list.u32(at + 12);
      Resource.Mr named =
          context.search(Resource.Mr.class, region -> region.region().lkey() == key);
      Registration registration = named.registration;
      boolean pages =
          registration != null && (registration.access() & UverbsAbi.ACCESS_ON_DEMAND) != 0;
      ErrnoException.require(
          pages && registration != null && registration.pd().equals(pd), Errno.EINVAL);
    }
  }
}
