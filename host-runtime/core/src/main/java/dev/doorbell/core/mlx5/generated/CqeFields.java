package dev.doorbell.core.mlx5.generated;

import dev.doorbell.core.memory.BigEndian;
import dev.doorbell.core.memory.RawMemory;
import javax.annotation.processing.Generated;

/**
 * A completion queue entry of 64 bytes: {@code struct mlx5_cqe64}. Big-endian.
 *
 * <p>Written by FormatsTest from src/main/formats/mlx5.txt.
 */
@Generated("FormatsTest")
public class CqeFields {
  /** Bytes of the structure. */
  public static final int BYTES = 64;

  public static final int SLID_OFFSET = 0x16;

  public static final int REMOTE_QPN_OFFSET = 0x18;

  public static final int USER_INDEX_OFFSET = 0x20;

  public static final int IMMEDIATE_OFFSET = 0x24;

  public static final int BYTE_COUNT_OFFSET = 0x2c;

  public static final int TIMESTAMP_OFFSET = 0x30;

  public static final int SOP_DROP_QPN_OFFSET = 0x38;

  public static final int WQE_COUNTER_OFFSET = 0x3c;

  public static final int SIGNATURE_OFFSET = 0x3e;

  public static final int OP_OWN_OFFSET = 0x3f;

  /** Opcode: a send queue's work request is done. */
  public static final int REQUESTER = 0;

  /** Opcode: a WRITE with immediate arrived. */
  public static final int RESPONDER_WRITE_IMM = 1;

  /** Opcode: a SEND arrived. */
  public static final int RESPONDER_SEND = 2;

  /** Opcode: a SEND with immediate arrived. */
  public static final int RESPONDER_SEND_IMM = 3;

  /** Opcode: a SEND with invalidate arrived. */
  public static final int RESPONDER_SEND_INVAL = 4;

  /** Opcode: entries from here on are in the resized ring. */
  public static final int RESIZE = 5;

  /** Opcode: no packet. */
  public static final int NO_PACKET = 6;

  /** Opcode: signature error. */
  public static final int SIGNATURE_ERROR = 12;

  /** Opcode: a send queue's work request failed; see {@code ErrorCqe}. */
  public static final int REQUESTER_ERROR = 13;

  /** Opcode: a receive failed; see {@code ErrorCqe}. */
  public static final int RESPONDER_ERROR = 14;

  /** Opcode of an entry that was never written. */
  public static final int INVALID = 15;

  /** The fields that {@code FieldTable.rows} shows. */
  public static final String ROWS =
"""
0 -1 20 receive, offload fields|
20 31 16 vlan_info|
20 15 0 slid|
24 31 24 flags|
24 23 0 rqpn|
28 -1 4 |
32 31 0 srqn_uidx|
36 31 0 imm_inval_pkey|
40 31 24 app|
40 23 16 app_op|
40 15 0 app_info|
44 31 0 byte_cnt|
48 63 0 timestamp|
""";

  protected CqeFields() {}

  /** The source's local identifier. */
  public static int slid(long at) {
    return BigEndian.getShort(at + 0x16) & 0xffff;
  }

  /** The peer's 24-bit queue pair number, for unconnected transports. */
  public static int remoteQpn(long at) {
    return BigEndian.getInt(at + 0x18) & 0xffffff;
  }

  /** True when 40 bytes of global route header stand before the payload of a datagram. */
  public static boolean hasGlobalRoute(long at) {
    return (BigEndian.getInt(at + 0x18) >>> 28 & 1) != 0;
  }

  /** The RoCE packet type: 1 for IPv6, 2 for IPv4. */
  public static int packetType(long at) {
    return BigEndian.getInt(at + 0x18) >>> 24 & 0x3;
  }

  /** The whole word {@code flags_rqpn}. */
  public static int sender(long at) {
    return BigEndian.getInt(at + 0x18);
  }

  /** The user index of the queue pair, where the HCA reports it (cqe_version 1). */
  public static int userIndex(long at) {
    return BigEndian.getInt(at + 0x20);
  }

  /** Immediate data or the invalidated key, in host order. */
  public static int immediate(long at) {
    return BigEndian.getInt(at + 0x24);
  }

  /** Bytes moved. */
  public static int byteCount(long at) {
    return BigEndian.getInt(at + 0x2c);
  }

  /** Ticks of the HCA's clock. */
  public static long timestamp(long at) {
    return BigEndian.getLong(at + 0x30);
  }

  /** WQE opcode in bits 31:24, queue pair number in 23:0. */
  public static int sopDropQpn(long at) {
    return BigEndian.getInt(at + 0x38);
  }

  /** The opcode of the WQE that completed; 0 for receives. */
  public static int wqeOpcode(long at) {
    return BigEndian.getInt(at + 0x38) >>> 24;
  }

  /** The 24-bit number of the queue pair. */
  public static int qpn(long at) {
    return BigEndian.getInt(at + 0x38) & 0xffffff;
  }

  /** 16-bit index of the first block of the WQE that completed; of a receive, its index. */
  public static int wqeCounter(long at) {
    return BigEndian.getShort(at + 0x3c) & 0xffff;
  }

  /** XOR signature. */
  public static int signature(long at) {
    return RawMemory.getByte(at + 0x3e) & 0xff;
  }

  /** {@link #REQUESTER} to {@link #INVALID}. */
  public static int opcode(long at) {
    return RawMemory.getByte(at + 0x3f) >>> 4 & 0xf;
  }

  /** Says whether and where the CQE carries payload (inline scatter); 0: none. */
  public static int format(long at) {
    return RawMemory.getByte(at + 0x3f) >>> 2 & 0x3;
  }

  /** True when the sender asked for a solicited event. */
  public static boolean isSolicited(long at) {
    return (RawMemory.getByte(at + 0x3f) >>> 1 & 1) != 0;
  }

  /** Owner bit. */
  public static int owner(long at) {
    return RawMemory.getByte(at + 0x3f) & 0x1;
  }

  /** Returns true for the opcodes that {@code ErrorCqe} reads. */
  public static boolean isError(int code) {
    return switch (code) {
      case REQUESTER_ERROR, RESPONDER_ERROR -> true;
      default -> false;
    };
  }

  /** Names a CQE opcode. */
  public static String opcodeName(int code) {
    return switch (code) {
      case REQUESTER -> "REQ";
      case RESPONDER_WRITE_IMM -> "RESP_WR_IMM";
      case RESPONDER_SEND -> "RESP_SEND";
      case RESPONDER_SEND_IMM -> "RESP_SEND_IMM";
      case RESPONDER_SEND_INVAL -> "RESP_SEND_INV";
      case RESIZE -> "RESIZE_CQ";
      case NO_PACKET -> "NO_PACKET";
      case SIGNATURE_ERROR -> "SIG_ERR";
      case REQUESTER_ERROR -> "REQ_ERR";
      case RESPONDER_ERROR -> "RESP_ERR";
      case INVALID -> "INVALID";
      default -> "CQE opcode %d".formatted(code);
    };
  }
}
