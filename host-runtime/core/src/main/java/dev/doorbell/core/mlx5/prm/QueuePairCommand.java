package dev.doorbell.core.mlx5.prm;

import dev.doorbell.core.mlx5.prm.generated.CommandHeader;
import dev.doorbell.core.mlx5.prm.generated.QueuePairContext;

/** Writes CREATE_QP, QUERY_QP and the transitions of a queue pair. */
public final class QueuePairCommand {
  private static final int BYTES = 272;
  private static final int LOG_LARGEST_MESSAGE = 30;

  /** Up to eight bytes, and the extended ones ({@code MLX5_QPC_ATOMIC_MODE_UP_TO_8B}). */
  private static final int ATOMICS_OF_8_BYTES = 3;

  public static final int QUERY_ANSWER_BYTES = 272;

  private QueuePairCommand() {}

  /**
   * The attributes that CREATE_QP takes for a reliable connection.
   *
   * @param domain number of the protection domain
   * @param uarPage where its doorbells are written
   * @param logSendBlocks send ring in blocks of 64 bytes
   * @param logReceiveEntries receive ring in WQEs of 16 bytes, or -1 for none
   * @param sendQueue number of the completion queue for sends
   * @param receiveQueue number of the one for receives
   * @param rings umem of the receive ring, which the send ring follows at once
   * @param record umem of the doorbell record
   */
  public record Shape(
      int domain,
      int uarPage,
      int logSendBlocks,
      int logReceiveEntries,
      int sendQueue,
      int receiveQueue,
      Umem rings,
      Umem record) {}

  public static PrmBuffer create(Shape shape) {
    PrmBuffer command =
        PrmBuffer.command(BYTES, CommandHeader.CREATE_QP)
            .put(QueuePairContext.SERVICE_TYPE, QueuePairContext.RC)
            .put(QueuePairContext.PM_STATE, QueuePairContext.MIGRATED)
            .put(QueuePairContext.PD, shape.domain)
            .put(QueuePairContext.LOG_SQ_SIZE, shape.logSendBlocks)
            .put(QueuePairContext.UAR_PAGE, shape.uarPage)
            .put(QueuePairContext.CQN_SND, shape.sendQueue)
            .put(QueuePairContext.CQN_RCV, shape.receiveQueue)
            .putLong(QueuePairContext.DBR_ADDR_OFFSET, shape.record.offset())
            .put(QueuePairContext.DBR_UMEM_VALID, true)
            .put(QueuePairContext.DBR_UMEM_ID, shape.record.id())
            .putLong(QueuePairContext.WQ_UMEM_OFFSET_OFFSET, shape.rings.offset())
            .put(QueuePairContext.WQ_UMEM_ID, shape.rings.id())
            .put(QueuePairContext.WQ_UMEM_VALID, true);
    // LOG_RQ_STRIDE stays 0: 16 bytes.
    return shape.logReceiveEntries < 0
        ? command.put(QueuePairContext.RQ_TYPE, QueuePairContext.NO_RECEIVES)
        : command.put(QueuePairContext.LOG_RQ_SIZE, shape.logReceiveEntries);
  }

  private static PrmBuffer command(int opcode, int number) {
    return PrmBuffer.command(BYTES, opcode).put(CommandHeader.NUMBER, number);
  }

  /** RST2INIT: the port, and the rights of peers. */
  public static PrmBuffer toInit(
      int number, int port, boolean read, boolean write, boolean atomic) {
    return command(CommandHeader.RST2INIT_QP, number)
        .put(QueuePairContext.PM_STATE, QueuePairContext.MIGRATED)
        .put(QueuePairContext.PORT_NUM, port)
        .put(QueuePairContext.ATOMIC_MODE, atomic ? ATOMICS_OF_8_BYTES : 0)
        .put(QueuePairContext.RRE, read)
        .put(QueuePairContext.RWE, write)
        .put(QueuePairContext.RAE, atomic);
  }

  /**
   * INIT2RTR: the peer and the route to it.
   *
   * @param peer its 24-bit queue pair number
   * @param receivePsn the first packet sequence number that it sends
   * @param mtuCode 1 for 256 bytes to 5 for 4096
   * @param minRnrTimer code of the timer that this side asks for
   * @param logReadAtomic log2 of READs and atomics whose answers are kept
   */
  public static PrmBuffer toRtr(
      int number,
      int peer,
      int receivePsn,
      int mtuCode,
      int minRnrTimer,
      int logReadAtomic,
      RoutePath path) {
    PrmBuffer command =
        command(CommandHeader.INIT2RTR_QP, number)
            .put(QueuePairContext.MTU, mtuCode)
            .put(QueuePairContext.LOG_MSG_MAX, LOG_LARGEST_MESSAGE)
            .put(QueuePairContext.REMOTE_QPN, peer)
            .put(QueuePairContext.LOG_RRA_MAX, logReadAtomic)
            .put(QueuePairContext.MIN_RNR_NAK, minRnrTimer)
            .put(QueuePairContext.NEXT_RCV_PSN, receivePsn)
            .put(QueuePairContext.PORT_NUM, path.port())
            .put(QueuePairContext.TCLASS, path.trafficClass());
    if (!path.ethernet()) {
      return command.put(QueuePairContext.RLID, path.peerLid());
    }
    return command
        .put(QueuePairContext.SRC_ADDR_INDEX, path.gidIndex())
        .put(QueuePairContext.HOP_LIMIT, path.hopLimit())
        .putLong(QueuePairContext.RGID_HIGH_OFFSET, path.peerGidHigh())
        .putLong(QueuePairContext.RGID_LOW_OFFSET, path.peerGidLow())
        .put(QueuePairContext.DSCP, path.trafficClass() >>> 2)
        .put(QueuePairContext.UDP_SPORT, path.sourcePort())
        .put(QueuePairContext.RMAC_47_32, (int) (path.mac() >>> Integer.SIZE))
        .put(QueuePairContext.RMAC_31_0, (int) path.mac());
  }

  /**
   * RTR2RTS: timeouts and retries of this end.
   *
   * @param sendPsn the first packet sequence number that it sends
   * @param ackTimeout exponent: 4.096 us times 2^ackTimeout
   * @param logReadAtomic log2 of READs and atomics outstanding
   */
  public static PrmBuffer toRts(
      int number, int sendPsn, int ackTimeout, int retryCount, int rnrRetry, int logReadAtomic) {
    return command(CommandHeader.RTR2RTS_QP, number)
        .put(QueuePairContext.NEXT_SEND_PSN, sendPsn)
        .put(QueuePairContext.ACK_TIMEOUT, ackTimeout)
        .put(QueuePairContext.LOG_SRA_MAX, logReadAtomic)
        .put(QueuePairContext.RETRY_COUNT, retryCount)
        .put(QueuePairContext.RNR_RETRY, rnrRetry);
  }

  /** 2ERR. */
  public static PrmBuffer toError(int number) {
    return command(CommandHeader.TO_ERROR_QP, number);
  }

  /** 2RST. */
  public static PrmBuffer toReset(int number) {
    return command(CommandHeader.TO_RESET_QP, number);
  }

  public static PrmBuffer query(int number) {
    return PrmBuffer.command(PrmBuffer.HEADER_BYTES, CommandHeader.QUERY_QP)
        .put(CommandHeader.NUMBER, number);
  }

  /** The state in a query's answer: RESET 0, INIT 1, RTR 2, RTS 3, SQER 4, SQD 5 or 7, ERR 6. */
  public static int state(PrmBuffer answer) {
    return answer.get(QueuePairContext.STATE);
  }
}
