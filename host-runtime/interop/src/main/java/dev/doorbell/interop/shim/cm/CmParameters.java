package dev.doorbell.interop.shim.cm;

import dev.doorbell.core.uverbs.generated.CmAbi;
import dev.doorbell.interop.shim.abi.Struct;

/**
 * Parameters that one end of a connection sends to the other: {@code struct rdma_ucm_conn_param}
 * without its private data.
 *
 * @param queuePair number of its queue pair, 24 bits
 * @param queueKey of datagrams
 * @param sharedReceives 1 where it has a shared receive queue
 * @param responderResources READs and atomics that it takes at a time
 * @param initiatorDepth READs and atomics that it has outstanding
 * @param flowControl 1 for end-to-end flow control
 * @param retryCount 0 to 7
 * @param rnrRetryCount 0 to 7
 */
record CmParameters(
    int queuePair,
    int queueKey,
    int sharedReceives,
    int responderResources,
    int initiatorDepth,
    int flowControl,
    int retryCount,
    int rnrRetryCount) {
  static final CmParameters NONE = new CmParameters(0, 0, 0, 0, 0, 0, 0, 0);

  static final int BYTES = 272;

  static final int DATA = 8;
  static final int DATA_LENGTH = DATA + CmAbi.PRIVATE_DATA;

  static CmParameters read(Struct from, int at) {
    return new CmParameters(
        from.u32(at) & 0xff_ffff,
        from.u32(at + 4),
        from.u8(at + DATA_LENGTH + 1),
        from.u8(at + DATA_LENGTH + 2),
        from.u8(at + DATA_LENGTH + 3),
        from.u8(at + DATA_LENGTH + 4),
        from.u8(at + DATA_LENGTH + 5) & 7,
        from.u8(at + DATA_LENGTH + 6) & 7);
  }

  /** The field {@code valid} of the structure. */
  static boolean isValid(Struct from, int at) {
    return from.u8(at + DATA_LENGTH + 7) != 0;
  }

  void write(Struct to, int at) {
    to.u32(at, queuePair)
        .u32(at + 4, queueKey)
        .u8(at + DATA_LENGTH + 1, sharedReceives)
        .u8(at + DATA_LENGTH + 2, responderResources)
        .u8(at + DATA_LENGTH + 3, initiatorDepth)
        .u8(at + DATA_LENGTH + 4, flowControl)
        .u8(at + DATA_LENGTH + 5, retryCount)
        .u8(at + DATA_LENGTH + 6, rnrRetryCount);
  }

  /** Returns the parameters seen by the other end: what one issues, the other accepts. */
  CmParameters seenByPeer() {
    return new CmParameters(
        queuePair,
        queueKey,
        sharedReceives,
        /* responderResources= */ initiatorDepth,
        /* initiatorDepth= */ responderResources,
        flowControl,
        retryCount,
        rnrRetryCount);
  }
}
