package dev.doorbell.interop.shim.command;

import dev.doorbell.core.hca.Errno;
import dev.doorbell.core.uverbs.generated.UverbsAbi;
import dev.doorbell.interop.shim.abi.ErrnoException;
import dev.doorbell.interop.shim.abi.PagesNotShared;
import dev.doorbell.interop.shim.abi.Struct;
import dev.doorbell.interop.shim.object.ClientContext;
import dev.doorbell.interop.shim.object.Resource;

/** Shared receive queues of libmlx5. */
final class SharedReceiveCommands {
  /** Flag of {@code struct mlx5_ib_create_srq}. */
  private static final int SIGNATURE = 1;

  private static final int MAX_SEGMENTS = 31;

  /** {@code IBV_SRQ_LIMIT}. */
  private static final int LIMIT = 1 << 1;

  private SharedReceiveCommands() {}

  static void create(IoctlCommand command) throws ErrnoException, PagesNotShared {
    // struct mlx5_ib_create_srq
    Struct in = command.in(UverbsAbi.UHW_IN, 16);
    ClientContext context = command.context();
    Resource.Pd pd = command.find(UverbsAbi.CREATE_SRQ_PD_HANDLE, Resource.Pd.class);
    int wanted = command.in32(UverbsAbi.CREATE_SRQ_MAX_WR);
    int segments = command.in32(UverbsAbi.CREATE_SRQ_MAX_SGE);
    int type = command.in32(UverbsAbi.CREATE_SRQ_TYPE);
    boolean signature = in.size() >= 20 && (in.u32(16) & SIGNATURE) != 0;
    ErrnoException.require(type == UverbsAbi.SRQ_BASIC && !signature, Errno.EOPNOTSUPP);
    ErrnoException.require(
        wanted >= 0
            && wanted < 1 << MappedQueues.MAX_SHIFT
            && segments >= 0
            && segments <= MAX_SEGMENTS,
        Errno.EINVAL);
    // As mlx5_ib computes it: one WQE more than asked for, each a power of two from 32 bytes on.
    int entries = Integer.highestOneBit(Math.max(wanted, 1)) << 1;
    int stride = powerOfTwo(Math.max(32, MappedQueues.SEGMENT * (segments + 1)));
    Resource.Srq srq =
        MappedQueues.createSrq(
            context,
            pd,
            in.u64(0),
            in.u64(8),
            MappedQueues.receives(entries, stride, false),
            command.in64(UverbsAbi.CREATE_SRQ_USER_HANDLE));
    int handle = command.add(srq);
    command.out(UverbsAbi.UHW_OUT, new Struct(8).u32(0, srq.number()));
    command.out32(UverbsAbi.CREATE_SRQ_RESP_MAX_WR, entries - 1);
    command.out32(UverbsAbi.CREATE_SRQ_RESP_MAX_SGE, stride / MappedQueues.SEGMENT - 1);
    command.out32(UverbsAbi.CREATE_SRQ_RESP_SRQ_NUM, srq.number());
    command.outHandle(UverbsAbi.CREATE_SRQ_HANDLE, handle);
  }

  private static int powerOfTwo(int least) {
    int down = Integer.highestOneBit(least);
    return down == least ? down : down << 1;
  }

  /** {@code struct ib_uverbs_modify_srq}: only the limit can change. */
  static void modify(IoctlCommand command) throws ErrnoException {
    Struct in = command.in(UverbsAbi.CORE_IN, 16);
    Resource.Srq srq = command.context().find(Resource.Srq.class, in.u32(0));
    ErrnoException.require(in.u32(4) == LIMIT, Errno.EINVAL);
    srq.queue.armLimit(in.u32(12));
    srq.limit = in.u32(12);
  }

  /** {@code struct ib_uverbs_query_srq}. */
  static void query(IoctlCommand command) throws ErrnoException {
    Resource.Srq srq =
        command.context().find(Resource.Srq.class, command.in(UverbsAbi.CORE_IN, 12).u32(8));
    command.out(
        UverbsAbi.CORE_OUT,
        new Struct(16)
            .u32(0, srq.entries - 1)
            .u32(4, srq.queue.attributes().segments())
            .u32(8, srq.limit));
  }
}
