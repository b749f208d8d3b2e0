package dev.doorbell.verbs.prm;

import dev.doorbell.core.hca.Transport;

/**
 * CREATE_QP, QUERY_QP and the transitions of a queue pair. In all of them the context (QPC) begins
 * at byte 0x18, in the answer of QUERY_QP too.
 */
public final class QueuePairCommand {
  private static final int CREATE = 0x500;
  private static final int RST2INIT = 0x502;
  private static final int INIT2RTR = 0x503;
  private static final int RTR2RTS = 0x504;
  private static final int TO_ERROR = 0x507;
  private static final int TO_RESET = 0x50a;
  private static final int QUERY = 0x50b;

  private static final int BYTES = 272;
  private static final int CONTEXT = 0x18;
  private static final int PATH = CONTEXT + 0x18;
  private static final int MIGRATED = 3;
  private static final int SHARED_RECEIVES = 1;
  private static final int NO_RECEIVES = 3;
  private static final int RELIABLE = 0;
  private static final int UNRELIABLE = 1;
  private static final int DATAGRAM = 3;

  /** {@code MLX5_QP_OPTPAR_Q_KEY}, in {@code opt_param_mask}. */
  private static final int OPTIONAL_QUEUE_KEY = 1 << 5;

  private static final int LARGEST_MTU = 5;
  private static final int LOG_LARGEST_DATAGRAM = 12;
  private static final int LOG_LARGEST_MESSAGE = 30;

  /** Up to eight bytes, and the extended ones ({@code MLX5_QPC_ATOMIC_MODE_UP_TO_8B}). */
  private static final int ATOMICS_OF_8_BYTES = 3;

  /** Bytes of the answer of everything but a query. */
  public static final int ANSWER_BYTES = 16;

  /** Bytes of a query's answer. */
  public static final int QUERY_ANSWER_BYTES = 272;

  private QueuePairCommand() {}

  /**
   * What a queue pair is made of.
   *
   * @param transport RC, UC or UD
   * @param domain number of the protection domain
   * @param uarPage whose doorbells it hears
   * @param logSendBlocks send ring in blocks of 64 bytes
   * @param logReceiveEntries receive ring in WQEs of 16 bytes, or -1 for none
   * @param sharedReceives number of the queue that receives are taken from, or -1 for none
   * @param sendQueue number of the completion queue for sends
   * @param receiveQueue number of the one for receives
   * @param rings umem of the receive ring, which the send ring follows at once
   * @param record umem of the doorbell record
   */
  public record Shape(
      Transport transport,
      int domain,
      int uarPage,
      int logSendBlocks,
      int logReceiveEntries,
      int sharedReceives,
      int sendQueue,
      int receiveQueue,
      Umem rings,
      Umem record) {}

  /** CREATE_QP. */
  public static PrmBuffer create(Shape shape) {
    PrmBuffer command =
        PrmBuffer.command(BYTES, CREATE)
            .put(CONTEXT, 23, 16, service(shape.transport)) // st
            .put(CONTEXT, 12, 11, MIGRATED) // pm_state
            .put(CONTEXT + 0x4, 23, 0, shape.domain) // pd
            .put(CONTEXT + 0x8, 14, 11, shape.logSendBlocks) // log_sq_size
            .put(CONTEXT + 0xc, 23, 0, shape.uarPage)
            .put(CONTEXT + 0x7c, 23, 0, shape.sendQueue) // cqn_snd
            .put(CONTEXT + 0x9c, 23, 0, shape.receiveQueue) // cqn_rcv
            .putLong(CONTEXT + 0xa0, shape.record.offset()) // dbr_addr
            .put(CONTEXT + 0xd0, 28, true) // dbr_umem_valid
            .put(CONTEXT + 0xe4, 31, 0, shape.record.id()) // dbr_umem_id
            .putLong(0x100, shape.rings.offset()) // wq_umem_offset
            .put(0x108, 31, 0, shape.rings.id()) // wq_umem_id
            .put(0x10c, 31, true); // wq_umem_valid
    if (shape.sharedReceives >= 0) {
      command
          .put(CONTEXT + 0xac, 26, 24, SHARED_RECEIVES) // rq_type
          .put(CONTEXT + 0xac, 23, 0, shape.sharedReceives); // srqn_rmpn_xrqn
    } else if (shape.logReceiveEntries < 0) {
      command.put(CONTEXT + 0xac, 26, 24, NO_RECEIVES); // rq_type
    } else {
      // log_rq_stride stays 0: 16 bytes.
      command.put(CONTEXT + 0x8, 22, 19, shape.logReceiveEntries); // log_rq_size
    }
    return command;
  }

  private static int service(Transport transport) {
    return switch (transport) {
      case RC -> RELIABLE;
      case UC -> UNRELIABLE;
      case UD -> DATAGRAM;
    };
  }

  private static PrmBuffer of(int opcode, int number) {
    return PrmBuffer.command(BYTES, opcode).put(0x8, 23, 0, number);
  }

  /** RST2INIT: the port, and what peers may do. */
  public static PrmBuffer toInit(
      int number, int port, boolean read, boolean write, boolean atomic) {
    return of(RST2INIT, number)
        .put(CONTEXT, 12, 11, MIGRATED)
        .put(PATH + 0x24, 23, 16, port) // vhca_port_num
        .put(CONTEXT + 0x90, 19, 16, atomic ? ATOMICS_OF_8_BYTES : 0)
        .put(CONTEXT + 0x90, 15, read) // rre
        .put(CONTEXT + 0x90, 14, write) // rwe
        .put(CONTEXT + 0x90, 13, atomic); // rae
  }

  /**
   * INIT2RTR: the peer and the way there.
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
        of(INIT2RTR, number)
            .put(CONTEXT + 0x8, 31, 29, mtuCode)
            .put(CONTEXT + 0x8, 28, 24, LOG_LARGEST_MESSAGE)
            .put(CONTEXT + 0x14, 23, 0, peer) // remote_qpn
            .put(CONTEXT + 0x90, 23, 21, logReadAtomic) // log_rra_max
            .put(CONTEXT + 0x94, 28, 24, minRnrTimer)
            .put(CONTEXT + 0x94, 23, 0, receivePsn) // next_rcv_psn
            .put(PATH + 0x24, 23, 16, path.port());
    if (!path.ethernet()) {
      return command
          .put(PATH + 0x4, 15, 0, path.peerLid()) // rlid
          .put(PATH + 0xc, 27, 20, path.trafficClass());
    }
    return command
        .put(PATH + 0x8, 23, 16, path.gidIndex()) // src_addr_index
        .put(PATH + 0x8, 7, 0, path.hopLimit())
        .put(PATH + 0xc, 27, 20, path.trafficClass())
        .putLong(PATH + 0x10, path.peerGidHigh()) // rgid_rip
        .putLong(PATH + 0x18, path.peerGidLow())
        .put(PATH + 0x20, 21, 16, path.trafficClass() >>> 2) // dscp
        .put(PATH + 0x20, 15, 0, path.sourcePort()) // udp_sport
        .put(PATH + 0x24, 15, 0, (int) (path.mac() >>> 32)) // rmac_47_32
        .put(PATH + 0x28, 31, 0, (int) path.mac()); // rmac_31_0
  }

  /**
   * INIT2RTR of a queue pair for datagrams.
   *
   * @param queueKey that datagrams to it have to bring
   */
  public static PrmBuffer toRtr(int number, int port, int queueKey) {
    return of(INIT2RTR, number)
        .put(0x10, 31, 0, OPTIONAL_QUEUE_KEY)
        .put(CONTEXT + 0x8, 31, 29, LARGEST_MTU)
        .put(CONTEXT + 0x8, 28, 24, LOG_LARGEST_DATAGRAM)
        .put(PATH + 0x24, 23, 16, port)
        .put(CONTEXT + 0xa8, 31, 0, queueKey);
  }

  /** RTR2RTS of a queue pair for datagrams. */
  public static PrmBuffer toRts(int number, int sendPsn) {
    return of(RTR2RTS, number).put(CONTEXT + 0x78, 23, 0, sendPsn);
  }

  /**
   * RTR2RTS: how patient this end is.
   *
   * @param sendPsn the first packet sequence number that it sends
   * @param ackTimeout exponent: 4.096 us times 2^ackTimeout
   * @param logReadAtomic log2 of READs and atomics outstanding
   */
  public static PrmBuffer toRts(
      int number, int sendPsn, int ackTimeout, int retryCount, int rnrRetry, int logReadAtomic) {
    return of(RTR2RTS, number)
        .put(PATH + 0x8, 31, 27, ackTimeout)
        .put(CONTEXT + 0x70, 23, 21, logReadAtomic) // log_sra_max
        .put(CONTEXT + 0x70, 18, 16, retryCount)
        .put(CONTEXT + 0x70, 15, 13, rnrRetry)
        .put(CONTEXT + 0x78, 23, 0, sendPsn); // next_send_psn
  }

  /** 2ERR. */
  public static PrmBuffer toError(int number) {
    return of(TO_ERROR, number);
  }

  /** 2RST. */
  public static PrmBuffer toReset(int number) {
    return of(TO_RESET, number);
  }

  /** QUERY_QP. */
  public static PrmBuffer query(int number) {
    return PrmBuffer.command(16, QUERY).put(0x8, 23, 0, number);
  }

  /** The state in a query's answer: RESET 0, INIT 1, RTR 2, RTS 3, SQER 4, SQD 5 or 7, ERR 6. */
  public static int state(PrmBuffer answer) {
    return answer.get(CONTEXT, 31, 28);
  }
}
