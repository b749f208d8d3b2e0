package dev.doorbell.interop.shim.command;

import dev.doorbell.core.hca.ConnectionAttributes;
import dev.doorbell.core.hca.Errno;
import dev.doorbell.core.hca.QueuePair;
import dev.doorbell.core.hca.QueuePairState;
import dev.doorbell.core.uverbs.generated.UverbsAbi;
import dev.doorbell.interop.shim.abi.ErrnoException;
import dev.doorbell.interop.shim.abi.PagesNotShared;
import dev.doorbell.interop.shim.abi.Struct;
import dev.doorbell.interop.shim.command.MappedQueues.QpShape;
import dev.doorbell.interop.shim.object.ClientContext;
import dev.doorbell.interop.shim.object.Resource;
import dev.doorbell.softhca.steering.ReceiveHash;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;

/**
 * Receive side scaling: work queues that receive frames, tables of them, and the queue pairs that
 * deal frames out to the queues of a table.
 */
final class ReceiveSpreadCommands {
  /** {@code IB_WQT_RQ}. */
  private static final int RECEIVES = 0;

  private static final int LARGEST_LOG_TABLE = 13;
  private static final int TOEPLITZ = 1;

  private ReceiveSpreadCommands() {}

  /** Creates a queue: {@code struct mlx5_ib_create_wq}. */
  static void createQueue(IoctlCommand command) throws ErrnoException, PagesNotShared {
    Struct in = command.in(UverbsAbi.UHW_IN, 36);
    ErrnoException.require(
        command.in32(UverbsAbi.CREATE_WQ_TYPE) == RECEIVES
            && command.in32(UverbsAbi.CREATE_WQ_FLAGS, 0) == 0
            && in.u32(28) == 0
            && in.u32(32) == 0,
        Errno.EOPNOTSUPP);
    ErrnoException.require(in.u32(16) > 0, Errno.EINVAL);
    ClientContext context = command.context();
    Resource.Pd pd = command.find(UverbsAbi.CREATE_WQ_PD_HANDLE, Resource.Pd.class);
    Resource.Cq cq = command.find(UverbsAbi.CREATE_WQ_CQ_HANDLE, Resource.Cq.class);
    QpShape shape = QpShape.of(in.u64(0), in.u64(8), 0, in.u32(16), in.u32(20));
    Resource.Wq queue =
        MappedQueues.createWq(
            context, pd, shape, cq, command.in64(UverbsAbi.CREATE_WQ_USER_HANDLE));
    int handle = command.add(queue);
    queue.queuePair.userIndex = in.u32(24);
    command.out(UverbsAbi.UHW_OUT, new Struct(8).u32(0, 8));
    command.out32(UverbsAbi.CREATE_WQ_RESP_MAX_WR, shape.receives());
    command.out32(
        UverbsAbi.CREATE_WQ_RESP_MAX_SGE, (1 << shape.receiveShift()) / MappedQueues.SEGMENT);
    command.out32(UverbsAbi.CREATE_WQ_RESP_WQ_NUM, queue.number());
    command.outHandle(UverbsAbi.CREATE_WQ_HANDLE, handle);
  }

  /** {@code struct ib_uverbs_ex_modify_wq}. */
  static void modifyQueue(IoctlCommand command) throws ErrnoException {
    Struct in = command.in(UverbsAbi.CORE_IN, 24);
    int mask = in.u32(0);
    ErrnoException.require(
        (mask & ~(UverbsAbi.MODIFY_WQ_STATE | UverbsAbi.MODIFY_WQ_CURRENT)) == 0, Errno.EOPNOTSUPP);
    QueuePair queue = command.context().find(Resource.Wq.class, in.u32(4)).queuePair;
    int state =
        switch (queue.state()) {
          case RESET -> UverbsAbi.WQ_RESET;
          case ERR -> UverbsAbi.WQ_ERROR;
          default -> UverbsAbi.WQ_READY;
        };
    ErrnoException.require(
        (mask & UverbsAbi.MODIFY_WQ_CURRENT) == 0 || in.u32(12) == state, Errno.EINVAL);
    int next = (mask & UverbsAbi.MODIFY_WQ_STATE) == 0 ? state : in.u32(8);
    if (next == UverbsAbi.WQ_RESET) {
      queue.toReset();
    } else if (next == UverbsAbi.WQ_READY && state == UverbsAbi.WQ_RESET) {
      queue.toInit(Set.of());
      queue.toRtr(ConnectionAttributes.DEFAULT);
    } else if (next == UverbsAbi.WQ_ERROR && queue.state() != QueuePairState.RESET) {
      queue.toError();
    } else {
      ErrnoException.require(next == state, Errno.EINVAL);
    }
  }

  /** {@code struct ib_uverbs_ex_create_rwq_ind_table}. */
  static void createTable(IoctlCommand command) throws ErrnoException {
    Struct in = command.in(UverbsAbi.CORE_IN, 8);
    int shift = in.u32(4);
    ErrnoException.require(
        in.u32(0) == 0
            && shift >= 0
            && shift <= LARGEST_LOG_TABLE
            && in.size() >= 8 + (Integer.BYTES << shift),
        Errno.EINVAL);
    ClientContext context = command.context();
    List<Resource.Wq> queues = new ArrayList<>();
    for (int i = 0; i < 1 << shift; i++) {
      queues.add(context.find(Resource.Wq.class, in.u32(8 + Integer.BYTES * i)));
    }
    int handle = command.add(new Resource.QueueTable(queues));
    command.out(UverbsAbi.CORE_OUT, new Struct(16).u32(4, 16).u32(8, handle).u32(12, handle));
  }

  /** Creates a queue pair over a table: {@code struct mlx5_ib_create_qp_rss}. */
  static void createQueuePair(IoctlCommand command) throws ErrnoException {
    Struct in = command.in(UverbsAbi.UHW_IN, 144);
    long fields = in.u64(0);
    int keyBytes = in.u8(9);
    boolean flags = in.size() >= 152 && (in.u32(144) != 0 || in.u32(148) != 0);
    ErrnoException.require(
        in.u8(8) == TOEPLITZ && !flags && command.in32(UverbsAbi.CREATE_QP_FLAGS, 0) == 0,
        Errno.EOPNOTSUPP);
    ErrnoException.require(
        keyBytes == ReceiveHash.KEY_BYTES && ReceiveHash.isLegal(fields), Errno.EINVAL);
    command.find(UverbsAbi.CREATE_QP_PD_HANDLE, Resource.Pd.class);
    Resource.QueueTable table =
        command.find(UverbsAbi.CREATE_QP_IND_TABLE_HANDLE, Resource.QueueTable.class);
    ReceiveHash hash = new ReceiveHash(Arrays.copyOfRange(in.content(), 16, 16 + keyBytes), fields);
    Resource.Spread spread =
        new Resource.Spread(table, hash, command.in64(UverbsAbi.CREATE_QP_USER_HANDLE));
    QueuePairCommands.answer(
        command, command.add(spread), spread.number(), new Struct(40), new Struct(20));
  }
}
