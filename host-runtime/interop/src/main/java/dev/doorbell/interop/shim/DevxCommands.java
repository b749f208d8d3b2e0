package dev.doorbell.interop.shim;

import dev.doorbell.core.hca.CompletionQueueAttributes;
import dev.doorbell.core.hca.HcaException;
import dev.doorbell.core.hca.Transport;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.interop.shim.QueueCommands.QpShape;
import dev.doorbell.softhca.DriverAccess;
import org.jspecify.annotations.Nullable;

/**
 * DEVX: firmware commands of a program, as GPU-initiated libraries make their queues with. The
 * fields are those of the Programmer's Reference Manual (mlx5_ifc.h); what is not served is refused
 * as firmware does, with a status.
 */
final class DevxCommands {
  // Opcodes.
  private static final int QUERY_HCA_CAP = 0x100;
  private static final int CREATE_MKEY = 0x200;
  private static final int CREATE_CQ = 0x400;
  private static final int CREATE_QP = 0x500;
  private static final int RST2INIT = 0x502;
  private static final int INIT2RTR = 0x503;
  private static final int RTR2RTS = 0x504;
  private static final int RTS2RTS = 0x505;
  private static final int TO_ERROR = 0x507;
  private static final int TO_RESET = 0x50a;
  private static final int QUERY_QP = 0x50b;
  private static final int INIT2INIT = 0x50e;
  private static final int QUERY_ROCE_ADDRESS = 0x760;
  private static final int ALLOC_PD = 0x800;

  // MLX5_CMD_STAT_*
  private static final int BAD_OPCODE = 0x2;
  private static final int BAD_PARAMETER = 0x3;
  private static final int BAD_RESOURCE = 0x5;
  private static final int NO_RESOURCES = 0xf;

  private static final int GENERAL = 0;
  private static final int ROCE = 4;
  private static final int CONTEXT = 0x18;

  /** {@code opt_param_mask}, and {@code MLX5_QP_OPTPAR_Q_KEY} in it. */
  private static final int OPTIONAL = 0x10;

  private static final int OPTIONAL_QUEUE_KEY = 1 << 5;
  private static final int NO_RECEIVES = 3;
  private static final int SHARED_RECEIVES = 1;
  private static final int EQN = 5;
  private static final int QPC_BYTES = 0xe8;

  private DevxCommands() {}

  static void registerUmem(Command command) throws Refusal {
    if (command.has(Abi.DEVX_UMEM_DMABUF_FD)) {
      throw new Refusal(Errno.EOPNOTSUPP);
    }
    long start = command.in64(Abi.DEVX_UMEM_ADDR);
    long bytes = command.in64(Abi.DEVX_UMEM_LEN);
    int access = command.in32(Abi.DEVX_UMEM_ACCESS, 0);
    Context context = command.context();
    if (bytes <= 0 || !context.process().isMapped(start, bytes, (access & 1) != 0)) {
      throw new Refusal(Errno.EFAULT);
    }
    Resource.Umem umem = new Resource.Umem(context.server().nextUmem(), start, bytes);
    command.out32(Abi.DEVX_UMEM_OUT_ID, umem.id);
    command.outHandle(Abi.DEVX_UMEM_HANDLE, context.add(umem));
  }

  static void queryEqn(Command command) throws Refusal {
    if (command.in32(Abi.DEVX_QUERY_EQN_USER_VEC) != 0) {
      throw new Refusal(Errno.EINVAL);
    }
    command.out32(Abi.DEVX_QUERY_EQN_DEV_EQN, EQN);
  }

  static void queryUar(Command command) throws Refusal {
    int number = command.in32(Abi.DEVX_QUERY_UAR_USER_IDX);
    if (command.context().page(number) == null) {
      throw new Refusal(Errno.EINVAL);
    }
    command.out32(Abi.DEVX_QUERY_UAR_DEV_IDX, number);
  }

  /** Commands that make nothing. */
  static void other(Command command) throws Refusal {
    Prm in = new Prm(command.in(Abi.DEVX_OTHER_CMD_IN, 16).content());
    Prm out = new Prm(new byte[room(command, Abi.DEVX_OTHER_CMD_OUT)]);
    int opcode = in.get(0, 31, 16);
    boolean served = true;
    switch (opcode) {
      case QUERY_HCA_CAP -> capabilities(in.get(4, 15, 0) >>> 1, out);
      case QUERY_ROCE_ADDRESS -> roceAddress(command, out);
      default -> served = false;
    }
    answer(command, Abi.DEVX_OTHER_CMD_OUT, served ? out : unknown(out, opcode));
  }

  private static int room(Command command, int attribute) throws Refusal {
    int room = command.length(attribute);
    if (room < 16) {
      throw new Refusal(Errno.EINVAL);
    }
    return room;
  }

  private static Prm unknown(Prm out, int opcode) {
    return out.failed(BAD_OPCODE, opcode);
  }

  private static void answer(Command command, int attribute, Prm out) throws Refusal {
    command.out(attribute, new Struct(out.content()));
    if (out.get(0, 31, 24) != 0) {
      throw new Refusal(Errno.EREMOTEIO);
    }
  }

  private static void capabilities(int type, Prm out) {
    if (type == GENERAL) {
      out.put(0x20, 23, 16, 15) // log_max_qp_sz
          .put(0x20, 4, 0, 16) // log_max_qp
          .put(0x28, 23, 16, 22) // log_max_cq_sz
          .put(0x28, 4, 0, 17) // log_max_cq
          .put(0x44, 9, 8, 1) // port_type: Ethernet
          .put(0x44, 7, 0, 1) // num_ports
          .put(0x50, 2, 1, 3) // roce, atomic
          .put(0x54, 0, 0, 1) // rc
          .put(0x5c, 31, 31, 1) // bf
          .put(0x5c, 20, 16, 9) // log_bf_reg_size
          .put(0x60, 15, 0, 1024) // max_wqe_sz_sq
          .put(0x64, 15, 0, 512); // max_wqe_sz_rq
    } else if (type == ROCE) {
      out.put(0x20, 7, 0, 4) // roce_version: 2
          .put(0x24, 15, 0, 4791) // r_roce_dest_udp_port
          .put(0x28, 31, 16, 0xffff) // r_roce_max_src_udp_port
          .put(0x28, 15, 0, 0xc000) // r_roce_min_src_udp_port
          .put(0x2c, 15, 0, 256); // roce_address_table_size
    }
  }

  /** Of entry 0: GID, Ethernet address, version. */
  private static void roceAddress(Command command, Prm out) {
    Device device = command.context().device();
    long mac = Device.macOf(device.gid().low());
    out.put64(0x10, device.gid().high())
        .put64(0x18, device.gid().low())
        .put(0x20, 15, 0, (int) (mac >>> Integer.SIZE)) // source_mac_47_32
        .put(0x24, 31, 0, (int) mac)
        .put(0x28, 11, 8, 1) // roce_l3_type: IPv6
        .put(0x28, 7, 0, 2); // roce_version
  }

  static void create(Command command) throws Refusal, NeedsPages {
    Prm in = new Prm(command.in(Abi.DEVX_OBJ_CMD_IN, 16).content());
    Prm out = new Prm(new byte[room(command, Abi.DEVX_OBJ_CMD_OUT)]);
    Context context = command.context();
    int opcode = in.get(0, 31, 16);
    Resource made = null;
    try {
      switch (opcode) {
        case CREATE_CQ -> {
          Resource.Cq cq = createCq(context, in);
          out.result(cq.queue.number());
          made = cq;
        }
        case CREATE_QP -> {
          Resource.Qp qp = createQp(context, in);
          out.result(qp.queuePair.number());
          made = qp;
        }
        case DevxSharedReceives.CREATE -> {
          Resource.Srq srq = DevxSharedReceives.create(context, in);
          out.result(srq.queue.number());
          made = srq;
        }
        case CREATE_MKEY -> {
          Resource.Mr region = createMkey(context, in);
          out.result(region.region.lkey() >>> 8);
          made = region;
        }
        case ALLOC_PD -> {
          Resource.Pd pd =
              new Resource.Pd(
                  context.device().hca().allocateProtectionDomain(), context.server().nextPd());
          out.result(pd.number);
          made = pd;
        }
        default -> unknown(out, opcode);
      }
    } catch (HcaException e) {
      out.failed(e.errno() == Errno.ENOMEM ? NO_RESOURCES : BAD_PARAMETER, opcode);
    } catch (Refusal e) {
      out.failed(e.errno() == Errno.ENOENT ? BAD_RESOURCE : BAD_PARAMETER, opcode);
    }
    if (made != null) {
      command.outHandle(Abi.DEVX_OBJ_HANDLE, context.add(made));
    }
    answer(command, Abi.DEVX_OBJ_CMD_OUT, out);
  }

  private static Resource.Umem umem(Context context, int id) throws Refusal {
    Resource.Umem umem = context.search(Resource.Umem.class, one -> one.id == id);
    if (umem == null) {
      throw new Refusal(Errno.ENOENT);
    }
    return umem;
  }

  /** An address in memory that a command names by umem and offset. */
  private static long at(Context context, int id, long offset) throws Refusal {
    Resource.Umem umem = umem(context, id);
    if (offset < 0 || offset >= umem.bytes) {
      throw new Refusal(Errno.EINVAL);
    }
    return umem.start + offset;
  }

  /** As {@link #at(Context, int, long)}, of a whole queue. */
  static long at(Context context, int id, long offset, long bytes) throws Refusal {
    long address = at(context, id, offset);
    if (bytes > umem(context, id).bytes - offset) {
      throw new Refusal(Errno.EINVAL);
    }
    return address;
  }

  private static Resource.Cq createCq(Context context, Prm in) throws Refusal, NeedsPages {
    int cqc = 0x10;
    int entries = 1 << Math.min(30, in.get(cqc + 0xc, 28, 24));
    boolean collapsed = in.get(cqc, 20, 20) != 0;
    if (in.get(cqc, 23, 21) != 0
        || in.get(cqc, 14, 14) != 0
        || entries > context.device().hca().attributes().maxCompletionEntries()) {
      throw new Refusal(Errno.EINVAL);
    }
    long ring = at(context, in.get(0x58), in.get64(0x50), (long) entries * 64);
    long record = at(context, in.get(cqc + 0x4), in.get64(cqc + 0x38), 8);
    return QueueCommands.createCq(
        context,
        new CompletionQueueAttributes(
            entries, collapsed, in.get(cqc, 17, 17) != 0, MemoryKind.HOST, MemoryKind.HOST),
        ring,
        record,
        Resource.DEVX,
        null);
  }

  private static Resource.Cq completionQueue(Context context, int number) throws Refusal {
    Resource.Cq cq = context.search(Resource.Cq.class, one -> one.queue.number() == number);
    if (cq == null) {
      throw new Refusal(Errno.ENOENT);
    }
    return cq;
  }

  private static Resource.Qp createQp(Context context, Prm in) throws Refusal, NeedsPages {
    Transport transport =
        switch (in.get(CONTEXT, 23, 16)) {
          case 0 -> Transport.RC;
          case 1 -> Transport.UC;
          case 3 -> Transport.UD;
          default -> throw new Refusal(Errno.EINVAL);
        };
    int receiveType = in.get(CONTEXT + 0xac, 26, 24);
    int sharedNumber = in.get(CONTEXT + 0xac, 23, 0);
    boolean noSends = in.get(CONTEXT + 0x8, 15, 15) != 0;
    boolean receives = receiveType != NO_RECEIVES && receiveType != SHARED_RECEIVES;
    int pdNumber = in.get(CONTEXT + 0x4, 23, 0);
    Resource.Pd pd = context.search(Resource.Pd.class, one -> one.number == pdNumber);
    UarPage page = context.page(in.get(CONTEXT + 0xc, 23, 0));
    // Doorbells without a record.
    boolean recordless = in.get(CONTEXT + 0x10, 31, 30) != 0;
    if (pd == null || page == null || recordless || receiveType == 2) {
      throw new Refusal(Errno.EINVAL);
    }
    Resource.Srq shared =
        receiveType == SHARED_RECEIVES
            ? context.search(Resource.Srq.class, one -> one.queue.number() == sharedNumber)
            : null;
    if (receiveType == SHARED_RECEIVES && shared == null) {
      throw new Refusal(Errno.ENOENT);
    }
    QpShape shape =
        new QpShape(
            at(context, in.get(0x108), in.get64(0x100)),
            at(context, in.get(CONTEXT + 0xe4), in.get64(CONTEXT + 0xa0), 8),
            noSends ? 0 : 1 << in.get(CONTEXT + 0x8, 14, 11),
            receives ? 1 << in.get(CONTEXT + 0x8, 22, 19) : 0,
            4 + in.get(CONTEXT + 0x8, 18, 16));
    at(context, in.get(0x108), in.get64(0x100), shape.receiveBytes() + shape.sendBytes());
    Resource.Cq send = completionQueue(context, in.get(CONTEXT + 0x7c, 23, 0));
    int receiveNumber = in.get(CONTEXT + 0x9c, 23, 0);
    Resource.@Nullable Cq receive =
        receives || shared != null ? completionQueue(context, receiveNumber) : null;
    Resource.Qp qp =
        QueueCommands.createQp(
            context,
            pd,
            shape,
            page,
            transport,
            send,
            receive,
            shared == null ? null : shared.queue,
            Resource.DEVX);
    qp.state.queueKey = in.get(CONTEXT + 0xa8);
    return qp;
  }

  private static Resource.Mr createMkey(Context context, Prm in) throws Refusal {
    int mkc = 0x10;
    int pdNumber = in.get(mkc + 0xc, 23, 0);
    Resource.Pd pd = context.search(Resource.Pd.class, one -> one.number == pdNumber);
    if (pd == null) {
      throw new Refusal(Errno.ENOENT);
    }
    long length = in.get64(mkc + 0x18);
    long start = at(context, in.get(0x64), in.get64(0x68), length);
    int word = in.get(mkc);
    // lr (local read) is always there; lw, rr, rw, a: bits 10 to 14 of the first dword
    int access =
        ((word >>> 11 & 1) != 0 ? 1 : 0)
            | ((word >>> 13 & 1) != 0 ? 1 << 1 : 0)
            | ((word >>> 12 & 1) != 0 ? 1 << 2 : 0)
            | ((word >>> 14 & 1) != 0 ? 1 << 3 : 0);
    return new Resource.Mr(
        DriverAccess.register(
            pd.domain,
            in.get64(mkc + 0x10),
            context.process().bus(start),
            length,
            QpState.rights(access),
            in.get(mkc + 0x4, 7, 0)));
  }

  static void modify(Command command) throws Refusal {
    Prm in = new Prm(command.in(Abi.DEVX_OBJ_CMD_IN, 16).content());
    Prm out = new Prm(new byte[room(command, Abi.DEVX_OBJ_CMD_OUT)]);
    Resource resource = command.context().find(Resource.class, command.handle(Abi.DEVX_OBJ_HANDLE));
    int opcode = in.get(0, 31, 16);
    requireNumber(resource, in.get(0x8, 23, 0));
    try {
      boolean known =
          switch (resource) {
            case Resource.Qp qp -> modify(command.context(), qp, opcode, in);
            case Resource.Srq srq when opcode == DevxSharedReceives.MODIFY -> {
              DevxSharedReceives.modify(srq, in);
              yield true;
            }
            default -> false;
          };
      if (!known) {
        unknown(out, opcode);
      }
    } catch (HcaException | Refusal e) {
      out.failed(BAD_PARAMETER, opcode);
    }
    answer(command, Abi.DEVX_OBJ_CMD_OUT, out);
  }

  /** A command that goes to an object names that object. */
  private static void requireNumber(Resource resource, int number) throws Refusal {
    boolean same =
        switch (resource) {
          case Resource.Qp qp -> number == qp.queuePair.number();
          case Resource.Srq srq -> number == srq.queue.number();
          default -> true;
        };
    if (!same) {
      throw new Refusal(Errno.EINVAL);
    }
  }

  private static boolean modify(Context context, Resource.Qp qp, int opcode, Prm in)
      throws Refusal {
    QpState state = qp.state;
    int now = state.now();
    switch (opcode) {
      case RST2INIT, INIT2INIT -> {
        takeRights(state, in);
        requireState(now, opcode == RST2INIT ? QpState.RESET : QpState.INIT);
        state.go(QpState.INIT, context.device());
      }
      case INIT2RTR -> {
        requireState(now, QpState.INIT);
        takePath(state, in);
        state.go(QpState.RTR, context.device());
      }
      case RTR2RTS, RTS2RTS -> {
        requireState(now, opcode == RTR2RTS ? QpState.RTR : QpState.RTS);
        takeSending(state, in);
        state.go(QpState.RTS, context.device());
      }
      case TO_ERROR -> state.go(QpState.ERR, context.device());
      case TO_RESET -> {
        state.go(QpState.RESET, context.device());
        qp.rung = -1;
      }
      default -> {
        return false;
      }
    }
    return true;
  }

  private static void requireState(int now, int wanted) throws Refusal {
    if (now != wanted) {
      throw new Refusal(Errno.EINVAL);
    }
  }

  /** rre, rwe, rae. */
  private static void takeRights(QpState state, Prm in) {
    int flags = in.get(CONTEXT + 0x90, 15, 13);
    state.access =
        1
            | ((flags & 2) != 0 ? 1 << 1 : 0)
            | ((flags & 4) != 0 ? 1 << 2 : 0)
            | ((flags & 1) != 0 ? 1 << 3 : 0);
    state.queueKey = in.get(CONTEXT + 0xa8);
  }

  private static void takePath(QpState state, Prm in) {
    int flags = in.get(CONTEXT + 0x90, 15, 13);
    if (flags != 0) {
      takeRights(state, in);
    }
    if ((in.get(OPTIONAL) & OPTIONAL_QUEUE_KEY) != 0) {
      state.queueKey = in.get(CONTEXT + 0xa8);
    }
    state.mtuCode = in.get(CONTEXT + 0x8, 31, 29);
    state.peerNumber = in.get(CONTEXT + 0x14, 23, 0);
    state.receivePsn = in.get(CONTEXT + 0x94, 23, 0);
    state.minRnrTimer = in.get(CONTEXT + 0x94, 28, 24);
    state.destReadAtomic = 1 << in.get(CONTEXT + 0x90, 23, 21);
    state.gidHigh = in.get64(CONTEXT + 0x28);
    state.gidLow = in.get64(CONTEXT + 0x30);
    state.gidIndex = in.get(CONTEXT + 0x20, 23, 16);
    state.hopLimit = in.get(CONTEXT + 0x20, 7, 0);
    state.trafficClass = in.get(CONTEXT + 0x38, 21, 16) << 2;
    state.hasRoute = true;
  }

  private static void takeSending(QpState state, Prm in) {
    state.sendPsn = in.get(CONTEXT + 0x78, 23, 0);
    state.retryCount = in.get(CONTEXT + 0x70, 18, 16);
    state.rnrRetry = in.get(CONTEXT + 0x70, 15, 13);
    state.readAtomic = 1 << in.get(CONTEXT + 0x70, 23, 21);
    state.timeout = in.get(CONTEXT + 0x20, 31, 27);
  }

  static void query(Command command) throws Refusal {
    Prm in = new Prm(command.in(Abi.DEVX_OBJ_CMD_IN, 16).content());
    Prm out = new Prm(new byte[room(command, Abi.DEVX_OBJ_CMD_OUT)]);
    Resource resource = command.context().find(Resource.class, command.handle(Abi.DEVX_OBJ_HANDLE));
    int opcode = in.get(0, 31, 16);
    if (opcode == QUERY_QP && resource instanceof Resource.Qp qp) {
      describe(qp, out);
    } else {
      unknown(out, opcode);
    }
    answer(command, Abi.DEVX_OBJ_CMD_OUT, out);
  }

  /** The queue pair's context, from byte 0x18 of the answer on. */
  private static void describe(Resource.Qp qp, Prm out) {
    if (out.size() < CONTEXT + QPC_BYTES) {
      return;
    }
    QpState state = qp.state;
    out.put(CONTEXT, 31, 28, state.now())
        .put(CONTEXT, 12, 11, 3)
        .put(CONTEXT + 0x8, 31, 29, state.mtuCode)
        .put(CONTEXT + 0xc, 23, 0, qp.uar.number())
        .put(CONTEXT + 0x14, 23, 0, state.peerNumber)
        .put64(CONTEXT + 0x28, state.gidHigh)
        .put64(CONTEXT + 0x30, state.gidLow)
        .put(CONTEXT + 0x70, 18, 16, state.retryCount)
        .put(CONTEXT + 0x70, 15, 13, state.rnrRetry)
        .put(CONTEXT + 0x78, 23, 0, state.sendPsn)
        .put(CONTEXT + 0x7c, 23, 0, qp.queuePair.attributes().sendQueue().number())
        .put(CONTEXT + 0x94, 28, 24, state.minRnrTimer)
        .put(CONTEXT + 0x94, 23, 0, state.receivePsn);
    var executed = qp.queuePair.executed();
    if (executed != null) {
      out.put(CONTEXT + 0xb0, 23, 0, executed.messages());
    }
  }

  static void destroy(Command command) throws Refusal {
    Context context = command.context();
    int handle = command.handle(Abi.DEVX_OBJ_HANDLE);
    Resource resource = context.find(Resource.class, handle);
    context.remove(handle);
    context.tellCompletions();
    context.devxEvents().forget(resource, command);
  }
}
