package dev.doorbell.interop.shim;

/** Attributes and states of queue pairs: {@code ibv_modify_qp}, {@code ibv_query_qp}. */
final class ModifyCommands {
  // enum ibv_qp_attr_mask
  private static final int STATE = 1;
  private static final int CURRENT_STATE = 1 << 1;
  private static final int ACCESS = 1 << 3;
  private static final int PKEY_INDEX = 1 << 4;
  private static final int PORT = 1 << 5;
  private static final int QUEUE_KEY = 1 << 6;
  private static final int ADDRESS = 1 << 7;
  private static final int PATH_MTU = 1 << 8;
  private static final int TIMEOUT = 1 << 9;
  private static final int RETRY_COUNT = 1 << 10;
  private static final int RNR_RETRY = 1 << 11;
  private static final int RECEIVE_PSN = 1 << 12;
  private static final int READ_ATOMIC = 1 << 13;
  private static final int MIN_RNR_TIMER = 1 << 15;
  private static final int SEND_PSN = 1 << 16;
  private static final int DEST_READ_ATOMIC = 1 << 17;
  private static final int PEER = 1 << 20;
  private static final int KNOWN =
      STATE
          | CURRENT_STATE
          | ACCESS
          | PKEY_INDEX
          | PORT
          | QUEUE_KEY
          | ADDRESS
          | PATH_MTU
          | TIMEOUT
          | RETRY_COUNT
          | RNR_RETRY
          | RECEIVE_PSN
          | READ_ATOMIC
          | MIN_RNR_TIMER
          | SEND_PSN
          | DEST_READ_ATOMIC
          | PEER;

  private ModifyCommands() {}

  /** {@code struct ib_uverbs_modify_qp}; the extended one begins the same. */
  static void modify(Command command, boolean extended) throws Refusal {
    Struct in = command.in(Abi.CORE_IN, 112);
    Context context = command.context();
    Resource.Qp qp = context.find(Resource.Qp.class, in.u32(64));
    QpState state = qp.state;
    int mask = in.u32(68);
    if ((mask & ~KNOWN) != 0) {
      throw new Refusal(Errno.EOPNOTSUPP);
    }
    if (((mask & PORT) != 0 && in.u8(104) != 1)
        || ((mask & PKEY_INDEX) != 0 && in.u16(92) != 0)
        || ((mask & CURRENT_STATE) != 0 && in.u8(97) != state.now())) {
      throw new Refusal(Errno.EINVAL);
    }
    take(state, mask, in);
    int next = (mask & STATE) != 0 ? in.u8(96) : state.now();
    state.go(next, context.device());
    if (next == QpState.RESET) {
      qp.rung = -1;
    }
    command.out(Abi.UHW_OUT, new Struct(16).u32(0, 16));
    if (extended) {
      command.out(Abi.CORE_OUT, new Struct(8).u32(4, 8));
    }
  }

  private static void take(QpState state, int mask, Struct in) throws Refusal {
    state.access = (mask & ACCESS) != 0 ? in.u32(88) : state.access;
    state.queueKey = (mask & QUEUE_KEY) != 0 ? in.u32(72) : state.queueKey;
    state.receivePsn = (mask & RECEIVE_PSN) != 0 ? in.u32(76) : state.receivePsn;
    state.sendPsn = (mask & SEND_PSN) != 0 ? in.u32(80) : state.sendPsn;
    state.peerNumber = (mask & PEER) != 0 ? in.u32(84) : state.peerNumber;
    state.mtuCode = (mask & PATH_MTU) != 0 ? in.u8(98) : state.mtuCode;
    state.readAtomic = (mask & READ_ATOMIC) != 0 ? in.u8(101) : state.readAtomic;
    state.destReadAtomic = (mask & DEST_READ_ATOMIC) != 0 ? in.u8(102) : state.destReadAtomic;
    state.minRnrTimer = (mask & MIN_RNR_TIMER) != 0 ? in.u8(103) : state.minRnrTimer;
    state.timeout = (mask & TIMEOUT) != 0 ? in.u8(105) : state.timeout;
    state.retryCount = (mask & RETRY_COUNT) != 0 ? in.u8(106) : state.retryCount;
    state.rnrRetry = (mask & RNR_RETRY) != 0 ? in.u8(107) : state.rnrRetry;
    if ((mask & ADDRESS) != 0) {
      // struct ib_uverbs_qp_dest: RoCE has global routes alone
      if (in.u8(30) == 0 || in.u8(24) != 0) {
        throw new Refusal(Errno.EINVAL);
      }
      state.hasRoute = true;
      state.gidHigh = in.be64(0);
      state.gidLow = in.be64(8);
      state.gidIndex = in.u8(24);
      state.hopLimit = in.u8(25);
      state.trafficClass = in.u8(26);
      state.serviceLevel = in.u8(27);
    }
  }

  /** {@code struct ib_uverbs_query_qp_resp}. */
  static void query(Command command) throws Refusal {
    Resource.Qp qp = command.context().find(Resource.Qp.class, command.in(Abi.CORE_IN, 16).u32(8));
    QpState state = qp.state;
    Struct answer =
        new Struct(128)
            .be64(0, state.gidHigh)
            .be64(8, state.gidLow)
            .u8(25, state.hopLimit)
            .u8(26, state.trafficClass)
            .u8(27, state.serviceLevel)
            .u8(30, state.hasRoute ? 1 : 0)
            .u8(31, 1)
            .copy(state.capabilities, 0, 64, state.capabilities.size())
            .u32(84, state.queueKey)
            .u32(88, state.receivePsn)
            .u32(92, state.sendPsn)
            .u32(96, state.peerNumber)
            .u32(100, state.access)
            .u8(108, state.now())
            .u8(109, state.now())
            .u8(110, state.mtuCode)
            .u8(113, state.readAtomic)
            .u8(114, state.destReadAtomic)
            .u8(115, state.minRnrTimer)
            .u8(116, 1)
            .u8(117, state.timeout)
            .u8(118, state.retryCount)
            .u8(119, state.rnrRetry)
            .u8(122, state.signalsAll ? 1 : 0);
    command.out(Abi.CORE_OUT, answer);
  }
}
