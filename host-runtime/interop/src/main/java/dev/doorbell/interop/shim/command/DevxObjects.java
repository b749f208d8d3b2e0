package dev.doorbell.interop.shim.command;

import dev.doorbell.core.hca.CompletionQueueAttributes;
import dev.doorbell.core.hca.Errno;
import dev.doorbell.core.hca.Transport;
import dev.doorbell.core.mlx5.DoorbellRecord;
import dev.doorbell.core.mlx5.prm.PrmBuffer;
import dev.doorbell.core.mlx5.prm.PrmField;
import dev.doorbell.core.mlx5.prm.generated.CommandHeader;
import dev.doorbell.core.mlx5.prm.generated.CompletionQueueContext;
import dev.doorbell.core.mlx5.prm.generated.MemoryKeyContext;
import dev.doorbell.core.mlx5.prm.generated.QueuePairContext;
import dev.doorbell.core.mlx5.prm.generated.SharedReceiveContext;
import dev.doorbell.core.uverbs.generated.UverbsAbi;
import dev.doorbell.interop.shim.abi.ErrnoException;
import dev.doorbell.interop.shim.abi.PagesNotShared;
import dev.doorbell.interop.shim.client.GpuRange;
import dev.doorbell.interop.shim.command.MappedQueues.QpShape;
import dev.doorbell.interop.shim.object.ClientContext;
import dev.doorbell.interop.shim.object.QueuePairControl;
import dev.doorbell.interop.shim.object.Resource;
import dev.doorbell.interop.shim.object.UarPage;
import dev.doorbell.softhca.objects.SoftMemoryRegion;
import org.jspecify.annotations.Nullable;

/** Creates, modifies and queries objects by firmware commands. */
final class DevxObjects {
  /** Bits 31 to 8 of a memory key are the number of its object. */
  private static final int MKEY_SHIFT = 8;

  private static final int MIN_LOG_STRIDE = 5;
  private static final int MAX_LOG_STRIDE = 10;
  private static final int MIN_LOG_RECEIVE = 4;

  private DevxObjects() {}

  /** The number by which firmware names an object. */
  static int number(Resource resource) {
    return switch (resource) {
      case Resource.Queue queue -> queue.number();
      case Resource.Mr region -> region.region().lkey() >>> MKEY_SHIFT;
      case Resource.Pd pd -> pd.number();
      default -> throw new IllegalArgumentException(resource + " has no number");
    };
  }

  /** Returns null for an unknown opcode. */
  static @Nullable Resource create(ClientContext context, PrmBuffer in)
      throws ErrnoException, PagesNotShared {
    return switch (in.get(CommandHeader.OPCODE)) {
      case CommandHeader.CREATE_CQ -> createCq(context, in);
      case CommandHeader.CREATE_QP -> createQp(context, in);
      case CommandHeader.CREATE_DCT -> DevxDcTargets.create(context, in);
      case CommandHeader.CREATE_RMP -> createSrq(context, in);
      case CommandHeader.CREATE_MKEY -> createMkey(context, in);
      case CommandHeader.ALLOC_PD -> MemoryCommands.createPd(context);
      default -> null;
    };
  }

  /** The program's address of {@code bytes} bytes of a umem. */
  private static long address(ClientContext context, int umemId, long offset, long bytes)
      throws ErrnoException {
    Resource.Umem umem = context.search(Resource.Umem.class, one -> one.id() == umemId);
    ErrnoException.require(
        offset >= 0 && offset < umem.bytes() && bytes <= umem.bytes() - offset, Errno.EINVAL);
    return umem.start() + offset;
  }

  static Resource.Pd domain(ClientContext context, int number) throws ErrnoException {
    return context.search(Resource.Pd.class, one -> one.number() == number);
  }

  static Resource.Srq sharedQueue(ClientContext context, int number) throws ErrnoException {
    return context.search(Resource.Srq.class, one -> one.number() == number);
  }

  static Resource.Cq completionQueue(ClientContext context, int number) throws ErrnoException {
    return context.search(Resource.Cq.class, one -> one.number() == number);
  }

  private static Resource.Cq createCq(ClientContext context, PrmBuffer in)
      throws ErrnoException, PagesNotShared {
    int entries = 1 << Math.min(30, in.get(CompletionQueueContext.LOG_CQ_SIZE));
    ErrnoException.require(
        in.get(CompletionQueueContext.CQE_SIZE) <= 1
            && !in.isSet(CompletionQueueContext.CQE_COMPRESSION)
            && entries <= context.device().hca().attributes().maxCompletionEntries(),
        Errno.EINVAL);
    CompletionQueueAttributes attributes =
        MappedQueues.attributes(
            entries,
            in.isSet(CompletionQueueContext.COLLAPSED),
            in.isSet(CompletionQueueContext.IGNORE_OVERRUN),
            CompletionQueueAttributes.ENTRY << in.get(CompletionQueueContext.CQE_SIZE));
    long ring =
        address(
            context,
            in.get(CompletionQueueContext.CQ_UMEM_ID),
            in.getLong(CompletionQueueContext.CQ_UMEM_OFFSET_OFFSET),
            attributes.ringBytes());
    long record =
        address(
            context,
            in.get(CompletionQueueContext.DBR_UMEM_ID),
            in.getLong(CompletionQueueContext.DBR_ADDR_OFFSET),
            DoorbellRecord.BYTES);
    return MappedQueues.createCq(context, attributes, ring, record, Resource.DEVX, null);
  }

  private static Resource.Qp createQp(ClientContext context, PrmBuffer in)
      throws ErrnoException, PagesNotShared {
    Transport transport =
        switch (in.get(QueuePairContext.SERVICE_TYPE)) {
          case QueuePairContext.RC -> Transport.RC;
          case QueuePairContext.UC -> Transport.UC;
          case QueuePairContext.UD -> Transport.UD;
          case QueuePairContext.DCI -> Transport.DC;
          default -> throw new ErrnoException(Errno.EINVAL);
        };
    // An initiator receives nothing, whatever it was given.
    int receiveType =
        transport == Transport.DC ? QueuePairContext.NO_RECEIVES : in.get(QueuePairContext.RQ_TYPE);
    boolean isShared = receiveType == QueuePairContext.SHARED_RECEIVES;
    boolean hasReceives = receiveType != QueuePairContext.NO_RECEIVES && !isShared;
    int pdNumber = in.get(QueuePairContext.PD);
    Resource.Pd pd = context.searchOrNull(Resource.Pd.class, one -> one.number() == pdNumber);
    UarPage page = context.page(in.get(QueuePairContext.UAR_PAGE));
    if (pd == null
        || page == null
        || in.isSet(QueuePairContext.SEND_DBR_MODE)
        || receiveType == QueuePairContext.ZERO_SIZE_RECEIVES) {
      throw new ErrnoException(Errno.EINVAL);
    }
    Resource.Srq shared =
        isShared ? sharedQueue(context, in.get(QueuePairContext.SRQN_RMPN)) : null;
    int ringId = in.get(QueuePairContext.WQ_UMEM_ID);
    long ringOffset = in.getLong(QueuePairContext.WQ_UMEM_OFFSET_OFFSET);
    QpShape shape =
        new QpShape(
            address(context, ringId, ringOffset, 0),
            address(
                context,
                in.get(QueuePairContext.DBR_UMEM_ID),
                in.getLong(QueuePairContext.DBR_ADDR_OFFSET),
                DoorbellRecord.BYTES),
            in.isSet(QueuePairContext.NO_SQ) ? 0 : 1 << in.get(QueuePairContext.LOG_SQ_SIZE),
            hasReceives ? 1 << in.get(QueuePairContext.LOG_RQ_SIZE) : 0,
            MIN_LOG_RECEIVE + in.get(QueuePairContext.LOG_RQ_STRIDE));
    address(context, ringId, ringOffset, shape.receiveBytes() + shape.sendBytes());
    Resource.Cq send = completionQueue(context, in.get(QueuePairContext.CQN_SND));
    Resource.Cq receive =
        hasReceives || isShared ? completionQueue(context, in.get(QueuePairContext.CQN_RCV)) : null;
    Resource.Qp qp =
        MappedQueues.createQp(
            context,
            pd,
            shape,
            page,
            transport,
            send,
            receive,
            shared == null ? null : shared.queue,
            Resource.DEVX);
    qp.queuePair.userIndex = in.get(QueuePairContext.USER_INDEX);
    qp.control.queueKey = in.get(QueuePairContext.Q_KEY);
    qp.logReceives = in.get(QueuePairContext.LOG_RQ_SIZE);
    return qp;
  }

  private static Resource.Srq createSrq(ClientContext context, PrmBuffer in)
      throws ErrnoException, PagesNotShared {
    int logEntries = in.get(SharedReceiveContext.LOG_WQ_SIZE);
    int logStride = in.get(SharedReceiveContext.LOG_WQ_STRIDE);
    Resource.Pd pd = domain(context, in.get(SharedReceiveContext.PD));
    int limit = in.get(SharedReceiveContext.LWM);
    int type = in.get(SharedReceiveContext.WQ_TYPE);
    ErrnoException.require(
        in.get(SharedReceiveContext.STATE) == SharedReceiveContext.READY
            && type <= SharedReceiveContext.CYCLIC
            && limit <= 1 << logEntries
            && logEntries <= MappedQueues.MAX_SHIFT
            && logStride >= MIN_LOG_STRIDE
            && logStride <= MAX_LOG_STRIDE,
        Errno.EINVAL);
    long ring =
        address(
            context,
            in.get(SharedReceiveContext.WQ_UMEM_ID),
            in.getLong(SharedReceiveContext.WQ_UMEM_OFFSET_OFFSET),
            1L << (logEntries + logStride));
    long record =
        address(
            context,
            in.get(SharedReceiveContext.DBR_UMEM_ID),
            in.getLong(SharedReceiveContext.DBR_ADDR_OFFSET),
            DoorbellRecord.BYTES);
    Resource.Srq srq =
        MappedQueues.createSrq(
            context,
            pd,
            ring,
            record,
            MappedQueues.receives(
                1 << logEntries, 1 << logStride, type == SharedReceiveContext.CYCLIC),
            Resource.DEVX);
    srq.queue.armLimit(limit);
    return srq;
  }

  private static Resource.Mr createMkey(ClientContext context, PrmBuffer in) throws ErrnoException {
    Resource.Pd pd = domain(context, in.get(MemoryKeyContext.PD));
    int access =
        (in.isSet(MemoryKeyContext.LOCAL_WRITE) ? UverbsAbi.ACCESS_LOCAL_WRITE : 0)
            | remoteAccess(
                in,
                MemoryKeyContext.REMOTE_WRITE,
                MemoryKeyContext.REMOTE_READ,
                MemoryKeyContext.ATOMIC);
    if (in.get(MemoryKeyContext.ACCESS_MODE) == MemoryKeyContext.FIXED) {
      return FixedKeys.create(context, pd, QueuePairControl.rights(access), in);
    }
    long length = in.getLong(MemoryKeyContext.LEN_OFFSET);
    long start =
        address(
            context,
            in.get(MemoryKeyContext.MKEY_UMEM_ID),
            in.getLong(MemoryKeyContext.MKEY_UMEM_OFFSET_OFFSET),
            length);
    GpuRange gpu = context.gpuMemory(start, length);
    SoftMemoryRegion region =
        pd.domain()
            .register(
                in.getLong(MemoryKeyContext.START_ADDR_OFFSET),
                gpu == null ? context.process().busAddress(start) : gpu.busAddress(start),
                length,
                QueuePairControl.rights(access),
                in.get(MemoryKeyContext.MKEY_7_0));
    return new Resource.Mr(region, null, null).on(gpu == null ? null : gpu.use());
  }

  /** Returns false for an unknown opcode. */
  static boolean modify(ClientContext context, Resource resource, PrmBuffer in)
      throws ErrnoException {
    int opcode = in.get(CommandHeader.OPCODE);
    if (resource instanceof Resource.Qp qp) {
      return modify(context, qp, opcode, in);
    }
    if (resource instanceof Resource.Dct dct && opcode == CommandHeader.DRAIN_DCT) {
      DevxDcTargets.drain(dct);
      return true;
    }
    if (resource instanceof Resource.Srq srq && opcode == CommandHeader.MODIFY_RMP) {
      ErrnoException.require(
          in.get(SharedReceiveContext.STATE) == SharedReceiveContext.READY
              && in.isSet(SharedReceiveContext.MODIFY_LWM),
          Errno.EINVAL);
      srq.queue.armLimit(in.get(SharedReceiveContext.LWM));
      return true;
    }
    return false;
  }

  private static boolean modify(ClientContext context, Resource.Qp qp, int opcode, PrmBuffer in)
      throws ErrnoException {
    QueuePairControl control = qp.control;
    switch (opcode) {
      case CommandHeader.RST2INIT_QP, CommandHeader.INIT2INIT_QP -> {
        setRights(control, in);
        requireState(
            control,
            opcode == CommandHeader.RST2INIT_QP ? UverbsAbi.STATE_RESET : UverbsAbi.STATE_INIT);
        control.transition(UverbsAbi.STATE_INIT, context.device());
      }
      case CommandHeader.INIT2RTR_QP -> {
        requireState(control, UverbsAbi.STATE_INIT);
        setPath(control, in);
        control.transition(UverbsAbi.STATE_RTR, context.device());
      }
      case CommandHeader.RTR2RTS_QP, CommandHeader.RTS2RTS_QP -> {
        requireState(
            control,
            opcode == CommandHeader.RTR2RTS_QP ? UverbsAbi.STATE_RTR : UverbsAbi.STATE_RTS);
        setSending(control, in);
        control.transition(UverbsAbi.STATE_RTS, context.device());
      }
      case CommandHeader.TO_ERROR_QP -> control.transition(UverbsAbi.STATE_ERR, context.device());
      case CommandHeader.TO_RESET_QP -> {
        control.transition(UverbsAbi.STATE_RESET, context.device());
        qp.onReset();
      }
      default -> {
        return false;
      }
    }
    return true;
  }

  private static void requireState(QueuePairControl control, int state) throws ErrnoException {
    ErrnoException.require(control.state() == state, Errno.EINVAL);
  }

  /** The {@code IBV_ACCESS_REMOTE_*} of three fields of one bit. */
  static int remoteAccess(PrmBuffer in, PrmField write, PrmField read, PrmField atomic) {
    return (in.isSet(write) ? UverbsAbi.ACCESS_REMOTE_WRITE : 0)
        | (in.isSet(read) ? UverbsAbi.ACCESS_REMOTE_READ : 0)
        | (in.isSet(atomic) ? UverbsAbi.ACCESS_REMOTE_ATOMIC : 0);
  }

  private static void setRights(QueuePairControl to, PrmBuffer in) {
    to.access =
        UverbsAbi.ACCESS_LOCAL_WRITE
            | remoteAccess(in, QueuePairContext.RWE, QueuePairContext.RRE, QueuePairContext.RAE);
    to.queueKey = in.get(QueuePairContext.Q_KEY);
  }

  private static void setPath(QueuePairControl to, PrmBuffer in) {
    if (in.isSet(QueuePairContext.REMOTE_ACCESS)) {
      setRights(to, in);
    }
    if ((in.get(QueuePairContext.OPT_PARAM_MASK) & QueuePairContext.OPTPAR_Q_KEY) != 0) {
      to.queueKey = in.get(QueuePairContext.Q_KEY);
    }
    to.mtuCode = in.get(QueuePairContext.MTU);
    to.peerNumber = in.get(QueuePairContext.REMOTE_QPN);
    to.receivePsn = in.get(QueuePairContext.NEXT_RCV_PSN);
    to.minRnrTimer = in.get(QueuePairContext.MIN_RNR_NAK);
    to.destReadAtomic = 1 << in.get(QueuePairContext.LOG_RRA_MAX);
    to.gidHigh = in.getLong(QueuePairContext.RGID_HIGH_OFFSET);
    to.gidLow = in.getLong(QueuePairContext.RGID_LOW_OFFSET);
    to.hopLimit = in.get(QueuePairContext.HOP_LIMIT);
    to.trafficClass = in.get(QueuePairContext.DSCP) << 2;
    to.hasRoute = true;
  }

  private static void setSending(QueuePairControl to, PrmBuffer in) {
    to.sendPsn = in.get(QueuePairContext.NEXT_SEND_PSN);
    to.retryCount = in.get(QueuePairContext.RETRY_COUNT);
    to.rnrRetry = in.get(QueuePairContext.RNR_RETRY);
    to.readAtomic = 1 << in.get(QueuePairContext.LOG_SRA_MAX);
    to.timeout = in.get(QueuePairContext.ACK_TIMEOUT);
  }

  /** Writes the answer of QUERY_QP. Verbs may have set attributes that its fields truncate. */
  static void query(Resource.Qp qp, PrmBuffer out) {
    if (out.size() < QueuePairContext.BYTES) {
      return;
    }
    QueuePairControl of = qp.control;
    out.put(QueuePairContext.STATE, of.state())
        .put(QueuePairContext.PM_STATE, QueuePairContext.MIGRATED)
        .putTruncated(QueuePairContext.MTU, of.queriedMtuCode())
        .put(QueuePairContext.LOG_RQ_SIZE, qp.logReceives)
        .put(QueuePairContext.UAR_PAGE, qp.uar.number())
        .putTruncated(QueuePairContext.REMOTE_QPN, of.peerNumber)
        .putLong(QueuePairContext.RGID_HIGH_OFFSET, of.gidHigh)
        .putLong(QueuePairContext.RGID_LOW_OFFSET, of.gidLow)
        .putTruncated(QueuePairContext.RETRY_COUNT, of.retryCount)
        .putTruncated(QueuePairContext.RNR_RETRY, of.rnrRetry)
        .putTruncated(QueuePairContext.NEXT_SEND_PSN, of.sendPsn)
        .putTruncated(QueuePairContext.CQN_SND, qp.queuePair.attributes().sendQueue().number())
        .putTruncated(QueuePairContext.MIN_RNR_NAK, of.minRnrTimer)
        .putTruncated(QueuePairContext.NEXT_RCV_PSN, of.receivePsn);
    var executed = qp.queuePair.executed();
    if (executed != null) {
      out.putTruncated(QueuePairContext.RMSN, executed.messages());
    }
  }
}
