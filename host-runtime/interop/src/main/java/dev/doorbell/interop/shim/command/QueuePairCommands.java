package dev.doorbell.interop.shim.command;

import dev.doorbell.core.hca.Errno;
import dev.doorbell.core.hca.SharedReceiveQueue;
import dev.doorbell.core.hca.Transport;
import dev.doorbell.core.roce.Gid;
import dev.doorbell.core.uverbs.generated.UverbsAbi;
import dev.doorbell.interop.shim.abi.ErrnoException;
import dev.doorbell.interop.shim.abi.PagesNotShared;
import dev.doorbell.interop.shim.abi.Struct;
import dev.doorbell.interop.shim.command.MappedQueues.QpShape;
import dev.doorbell.interop.shim.object.ClientContext;
import dev.doorbell.interop.shim.object.DcTargetControl;
import dev.doorbell.interop.shim.object.QueuePairSettings;
import dev.doorbell.interop.shim.object.Resource;
import dev.doorbell.interop.shim.object.UarPage;

/** Queue pairs of libmlx5: creation, attributes and states. */
final class QueuePairCommands {
  /** Bytes of {@code struct mlx5_ib_create_qp} up to the access key of a target. */
  private static final int WITH_ACCESS_KEY = 48;

  /** The known bits of {@code ibv_qp_attr_mask}: 0, 1, 3 to 13, 15 to 17 and 20. */
  private static final int KNOWN = 0b1_0011_1011_1111_1111_1011;

  private QueuePairCommands() {}

  static void create(IoctlCommand command) throws ErrnoException, PagesNotShared {
    int type = command.in32(UverbsAbi.CREATE_QP_TYPE);
    // struct mlx5_ib_create_qp
    Struct in = command.in(UverbsAbi.UHW_IN, 40);
    ClientContext context = command.context();
    Resource.Pd pd = command.find(UverbsAbi.CREATE_QP_PD_HANDLE, Resource.Pd.class);
    int flags = in.u32(28);
    if (type == UverbsAbi.TYPE_DRIVER && (flags & UverbsAbi.QP_FLAG_TYPE_DCT) != 0) {
      createTarget(command, pd, in);
      return;
    }
    Transport transport =
        switch (type) {
          case UverbsAbi.TYPE_RC -> Transport.RC;
          case UverbsAbi.TYPE_UC -> Transport.UC;
          case UverbsAbi.TYPE_UD -> Transport.UD;
          case UverbsAbi.TYPE_DRIVER -> Transport.DC;
          default -> throw new ErrnoException(Errno.EOPNOTSUPP);
        };
    int initiator = transport == Transport.DC ? UverbsAbi.QP_FLAG_TYPE_DCI : 0;
    ErrnoException.require((flags & UverbsAbi.QP_FLAG_TYPE_DCI) == initiator, Errno.EOPNOTSUPP);
    int createFlags = command.in32(UverbsAbi.CREATE_QP_FLAGS, 0);
    UarPage page = context.page(in.u32(36));
    ErrnoException.require(
        (createFlags
                & ~(UverbsAbi.QP_CREATE_SIGNAL_ALL | UverbsAbi.QP_CREATE_BLOCK_MULTICAST_LOOPBACK))
            == 0,
        Errno.EOPNOTSUPP);
    if ((flags
                & ~(UverbsAbi.QP_FLAG_SCATTER_CQE
                    | UverbsAbi.QP_FLAG_ALLOW_SCATTER_CQE
                    | UverbsAbi.QP_FLAG_UAR_PAGE_INDEX
                    | initiator))
            != 0
        || page == null) {
      throw new ErrnoException(
          (flags & UverbsAbi.QP_FLAG_SIGNATURE) != 0 ? Errno.EOPNOTSUPP : Errno.EINVAL);
    }
    Resource.Cq send = command.find(UverbsAbi.CREATE_QP_SEND_CQ_HANDLE, Resource.Cq.class);
    boolean receives = transport != Transport.DC;
    Resource.Cq receive = command.find(UverbsAbi.CREATE_QP_RECV_CQ_HANDLE, Resource.Cq.class);
    SharedReceiveQueue shared =
        command.has(UverbsAbi.CREATE_QP_SRQ_HANDLE) && receives
            ? command.find(UverbsAbi.CREATE_QP_SRQ_HANDLE, Resource.Srq.class).queue
            : null;
    QpShape shape =
        new QpShape(
            in.u64(0),
            in.u64(8),
            in.u32(16),
            shared == null && receives ? in.u32(20) : 0,
            in.u32(24));
    Resource.Qp qp =
        MappedQueues.createQp(
            context,
            pd,
            shape,
            page,
            transport,
            send,
            receive,
            shared,
            command.in64(UverbsAbi.CREATE_QP_USER_HANDLE));
    int handle = command.add(qp);
    // struct ib_uverbs_qp_cap: libmlx5 computes the send limits, the kernel the receive limits.
    Struct capabilities =
        command
            .in(UverbsAbi.CREATE_QP_CAP, 20)
            .u32(4, shape.receives())
            .u32(
                12, shape.receives() == 0 ? 0 : (1 << shape.receiveShift()) / MappedQueues.SEGMENT);
    qp.queuePair.userIndex = in.u32(32);
    qp.control.capabilities = capabilities;
    qp.control.signalsAll = (createFlags & UverbsAbi.QP_CREATE_SIGNAL_ALL) != 0;
    answer(command, handle, qp.number(), new Struct(40).u32(0, page.number()), capabilities);
  }

  /**
   * Answers the creation of a queue pair.
   *
   * @param driver {@code struct mlx5_ib_create_qp_resp}
   */
  static void answer(
      IoctlCommand command, int handle, int number, Struct driver, Struct capabilities)
      throws ErrnoException {
    command.out(UverbsAbi.UHW_OUT, driver);
    command.out(UverbsAbi.CREATE_QP_RESP_CAP, capabilities);
    command.out32(UverbsAbi.CREATE_QP_RESP_QP_NUM, number);
    command.outHandle(UverbsAbi.CREATE_QP_HANDLE, handle);
  }

  /** A target of dynamic connections; the HCA makes it when it goes to RTR. */
  private static void createTarget(IoctlCommand command, Resource.Pd pd, Struct in)
      throws ErrnoException {
    int flags = in.u32(28);
    ErrnoException.require(
        (flags
                    & ~(UverbsAbi.QP_FLAG_SCATTER_CQE
                        | UverbsAbi.QP_FLAG_ALLOW_SCATTER_CQE
                        | UverbsAbi.QP_FLAG_UAR_PAGE_INDEX
                        | UverbsAbi.QP_FLAG_TYPE_DCT))
                == 0
            && in.size() >= WITH_ACCESS_KEY
            && command.has(UverbsAbi.CREATE_QP_SRQ_HANDLE),
        Errno.EINVAL);
    Resource.Cq receive = command.find(UverbsAbi.CREATE_QP_RECV_CQ_HANDLE, Resource.Cq.class);
    Resource.Srq shared = command.find(UverbsAbi.CREATE_QP_SRQ_HANDLE, Resource.Srq.class);
    DcTargetControl control =
        new DcTargetControl(pd.domain(), shared.queue, receive.queue, in.u64(40), in.u32(32));
    Resource.Dct target = new Resource.Dct(control, command.in64(UverbsAbi.CREATE_QP_USER_HANDLE));
    answer(command, command.add(target), 0, new Struct(40), control.capabilities);
  }

  private static QueuePairSettings settings(ClientContext context, int handle)
      throws ErrnoException {
    return switch (context.find(Resource.Queue.class, handle)) {
      case Resource.Qp qp -> qp.control;
      case Resource.Dct target -> target.control;
      default -> throw new ErrnoException(Errno.ENOENT);
    };
  }

  static void destroy(IoctlCommand command) throws ErrnoException {
    settings(command.context(), command.handle(UverbsAbi.DESTROY_HANDLE));
    ChannelCommands.destroy(command, Resource.Queue.class);
  }

  /** {@code struct ib_uverbs_modify_qp}; the extended one begins the same. */
  static void modify(IoctlCommand command, boolean extended) throws ErrnoException {
    Struct in = command.in(UverbsAbi.CORE_IN, 112);
    ClientContext context = command.context();
    int handle = in.u32(64);
    QueuePairSettings control = settings(context, handle);
    int mask = in.u32(68);
    ErrnoException.require((mask & ~KNOWN) == 0, Errno.EOPNOTSUPP);
    ErrnoException.require(
        ((mask & UverbsAbi.QP_PORT) == 0 || in.u8(104) == 1)
            && ((mask & UverbsAbi.QP_PKEY_INDEX) == 0 || in.u16(92) == 0)
            && ((mask & UverbsAbi.QP_CUR_STATE) == 0 || in.u8(97) == control.state()),
        Errno.EINVAL);
    ErrnoException.require(
        (mask & UverbsAbi.QP_AV) == 0 || in.u8(24) < context.device().gids().size(), Errno.EINVAL);
    setAttributes(control, mask, in);
    int next = (mask & UverbsAbi.QP_STATE) != 0 ? in.u8(96) : control.state();
    control.transition(next, context.device());
    Resource.Queue queue = context.find(Resource.Queue.class, handle);
    if (next == UverbsAbi.STATE_RESET && queue instanceof Resource.Qp qp) {
      qp.onReset();
    }
    // struct mlx5_ib_modify_qp_resp: of a target, the number that it has got
    int number = queue instanceof Resource.Dct target ? target.number() : 0;
    command.out(UverbsAbi.UHW_OUT, new Struct(16).u32(0, 16).u32(4, number));
    if (extended) {
      command.out(UverbsAbi.CORE_OUT, new Struct(8).u32(4, 8));
    }
  }

  /** {@code struct ib_uverbs_attach_mcast}, and that of detaching. */
  static void attach(IoctlCommand command, boolean attach) throws ErrnoException {
    Struct in = command.in(UverbsAbi.CORE_IN, 24);
    Resource.Qp qp = command.context().find(Resource.Qp.class, in.u32(16));
    Gid group = new Gid(in.be64(0), in.be64(8));
    if (attach) {
      qp.attach(group);
    } else {
      ErrnoException.require(qp.detach(group), Errno.EINVAL);
    }
  }

  private static void setAttributes(QueuePairSettings to, int mask, Struct in)
      throws ErrnoException {
    to.access = (mask & UverbsAbi.QP_ACCESS_FLAGS) != 0 ? in.u32(88) : to.access;
    to.queueKey = (mask & UverbsAbi.QP_QKEY) != 0 ? in.u32(72) : to.queueKey;
    to.receivePsn = (mask & UverbsAbi.QP_RQ_PSN) != 0 ? in.u32(76) : to.receivePsn;
    to.sendPsn = (mask & UverbsAbi.QP_SQ_PSN) != 0 ? in.u32(80) : to.sendPsn;
    to.peerNumber = (mask & UverbsAbi.QP_DEST_QPN) != 0 ? in.u32(84) : to.peerNumber;
    to.mtuCode = (mask & UverbsAbi.QP_PATH_MTU) != 0 ? in.u8(98) : to.mtuCode;
    to.readAtomic = (mask & UverbsAbi.QP_MAX_QP_RD_ATOMIC) != 0 ? in.u8(101) : to.readAtomic;
    to.destReadAtomic =
        (mask & UverbsAbi.QP_MAX_DEST_RD_ATOMIC) != 0 ? in.u8(102) : to.destReadAtomic;
    to.minRnrTimer = (mask & UverbsAbi.QP_MIN_RNR_TIMER) != 0 ? in.u8(103) : to.minRnrTimer;
    to.timeout = (mask & UverbsAbi.QP_TIMEOUT) != 0 ? in.u8(105) : to.timeout;
    to.retryCount = (mask & UverbsAbi.QP_RETRY_CNT) != 0 ? in.u8(106) : to.retryCount;
    to.rnrRetry = (mask & UverbsAbi.QP_RNR_RETRY) != 0 ? in.u8(107) : to.rnrRetry;
    if ((mask & UverbsAbi.QP_AV) != 0) {
      // struct ib_uverbs_qp_dest: RoCE has only global routes
      ErrnoException.require(in.u8(30) != 0, Errno.EINVAL);
      to.hasRoute = true;
      to.gidIndex = in.u8(24);
      to.gidHigh = in.be64(0);
      to.gidLow = in.be64(8);
      to.hopLimit = in.u8(25);
      to.trafficClass = in.u8(26);
      to.serviceLevel = in.u8(27);
    }
  }

  /** {@code struct ib_uverbs_query_qp_resp}. */
  static void query(IoctlCommand command) throws ErrnoException {
    QueuePairSettings of = settings(command.context(), command.in(UverbsAbi.CORE_IN, 16).u32(8));
    Struct answer =
        new Struct(128)
            .be64(0, of.gidHigh)
            .be64(8, of.gidLow)
            .u8(24, of.gidIndex)
            .u8(25, of.hopLimit)
            .u8(26, of.trafficClass)
            .u8(27, of.serviceLevel)
            .u8(30, of.hasRoute ? 1 : 0)
            .u8(31, 1)
            .copy(of.capabilities, 0, 64, of.capabilities.size())
            .u32(84, of.queueKey)
            .u32(88, of.receivePsn)
            .u32(92, of.sendPsn)
            .u32(96, of.peerNumber)
            .u32(100, of.access)
            .u8(108, of.state())
            .u8(109, of.state())
            .u8(110, of.queriedMtuCode())
            .u8(113, of.readAtomic)
            .u8(114, of.destReadAtomic)
            .u8(115, of.minRnrTimer)
            .u8(116, 1)
            .u8(117, of.timeout)
            .u8(118, of.retryCount)
            .u8(119, of.rnrRetry)
            .u8(122, of.signalsAll ? 1 : 0);
    command.out(UverbsAbi.CORE_OUT, answer);
  }
}
