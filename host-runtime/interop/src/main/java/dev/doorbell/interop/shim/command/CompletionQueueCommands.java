package dev.doorbell.interop.shim.command;

import dev.doorbell.core.hca.CompletionQueueAttributes;
import dev.doorbell.core.hca.Errno;
import dev.doorbell.core.mlx5.Cqe;
import dev.doorbell.core.uverbs.generated.UverbsAbi;
import dev.doorbell.interop.shim.abi.ErrnoException;
import dev.doorbell.interop.shim.abi.PagesNotShared;
import dev.doorbell.interop.shim.abi.Struct;
import dev.doorbell.interop.shim.object.ClientContext;
import dev.doorbell.interop.shim.object.EventStream;
import dev.doorbell.interop.shim.object.Resource;

/** Completion queues of libmlx5. */
final class CompletionQueueCommands {
  /** {@code IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN}: the program does not say what it has polled. */
  private static final int IGNORE_OVERRUN = 2;

  private CompletionQueueCommands() {}

  /** The entries for which a program asks, checked and rounded up as mlx5_ib does. */
  private static int entries(ClientContext context, int wanted) throws ErrnoException {
    int most = context.device().hca().attributes().maxCompletionEntries();
    ErrnoException.require(wanted >= 1 && wanted < most, Errno.EINVAL);
    return Integer.highestOneBit(wanted) << 1;
  }

  private static boolean isEntrySize(int bytes) {
    return bytes == CompletionQueueAttributes.ENTRY
        || bytes == CompletionQueueAttributes.LARGE_ENTRY;
  }

  static void create(IoctlCommand command) throws ErrnoException, PagesNotShared {
    // struct mlx5_ib_create_cq
    Struct in = command.in(UverbsAbi.UHW_IN, 20);
    ClientContext context = command.context();
    int entries = entries(context, command.in32(UverbsAbi.CREATE_CQ_CQE));
    boolean isCompressed = in.size() > 20 && in.u8(20) != 0;
    int entryBytes = in.u32(16);
    int flags = in.size() > 22 ? in.u16(22) : 0;
    ErrnoException.require(
        (flags & ~(UverbsAbi.CQ_FLAG_PAD_128 | UverbsAbi.CQ_FLAG_UAR_PAGE_INDEX)) == 0,
        Errno.EOPNOTSUPP);
    // Padding fills cache lines of a NIC; here it changes nothing.
    ErrnoException.require(
        (flags & UverbsAbi.CQ_FLAG_PAD_128) == 0
            || entryBytes == CompletionQueueAttributes.LARGE_ENTRY,
        Errno.EINVAL);
    ErrnoException.require(
        isEntrySize(entryBytes)
            && !isCompressed
            && command.in32(UverbsAbi.CREATE_CQ_COMP_VECTOR, 0) == 0,
        Errno.EINVAL);
    EventStream channel =
        command.has(UverbsAbi.CREATE_CQ_COMP_CHANNEL)
            ? context.channel(command.handle(UverbsAbi.CREATE_CQ_COMP_CHANNEL))
            : null;
    boolean ignoresOverrun = (command.in32(UverbsAbi.CREATE_CQ_FLAGS, 0) & IGNORE_OVERRUN) != 0;
    Resource.Cq cq =
        MappedQueues.createCq(
            context,
            MappedQueues.attributes(entries, false, ignoresOverrun, entryBytes),
            in.u64(0),
            in.u64(8),
            command.in64(UverbsAbi.CREATE_CQ_USER_HANDLE),
            channel);
    int handle = command.add(cq);
    command.out(UverbsAbi.UHW_OUT, new Struct(8).u32(0, cq.number()));
    command.out32(UverbsAbi.CREATE_CQ_RESP_CQE, entries - 1);
    command.outHandle(UverbsAbi.CREATE_CQ_HANDLE, handle);
  }

  /** {@code struct ib_uverbs_resize_cq} and {@code struct mlx5_ib_resize_cq}. */
  static void resize(IoctlCommand command) throws ErrnoException, PagesNotShared {
    Struct in = command.in(UverbsAbi.CORE_IN, 16);
    Struct driver = command.in(UverbsAbi.UHW_IN, 16);
    ClientContext context = command.context();
    Resource.Cq cq = context.find(Resource.Cq.class, in.u32(8));
    int entries = entries(context, in.u32(12));
    ErrnoException.require(
        driver.u16(8) == cq.queue.attributes().entryBytes()
            && driver.u16(10) == 0
            && driver.u32(12) == 0,
        Errno.EINVAL);
    long ring = driver.u64(0);
    long bytes = (long) entries * cq.queue.attributes().entryBytes();
    MappedQueues.requireShared(context, ring, bytes, Cqe.BYTES);
    try (MappedQueues.Leases leases = new MappedQueues.Leases(context)) {
      cq.queue.resize(entries, leases.add(ring, bytes));
      cq.replaceRing(leases.keep()[0]);
    }
    // struct ib_uverbs_resize_cq_resp
    command.out(UverbsAbi.CORE_OUT, new Struct(8).u32(0, entries - 1));
  }

  static void destroy(IoctlCommand command) throws ErrnoException {
    ClientContext context = command.context();
    Resource.Cq cq = command.remove(UverbsAbi.DESTROY_HANDLE, Resource.Cq.class);
    context.forwardCompletionEvents();
    int completions =
        cq.completionEvents() - (cq.channel == null ? 0 : cq.channel.discard(cq.userHandle));
    // struct ib_uverbs_destroy_cq_resp
    command.out(
        UverbsAbi.DESTROY_RESP,
        new Struct(8).u32(0, completions).u32(4, ChannelCommands.reported(command, cq)));
    if (cq.channel != null && completions > 0) {
      ChannelCommands.drain(command, cq.channel, 0, cq.userHandle);
    }
    ChannelCommands.drainAsync(command, cq, 4);
  }
}
