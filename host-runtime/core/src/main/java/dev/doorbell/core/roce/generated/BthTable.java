package dev.doorbell.core.roce.generated;

import javax.annotation.processing.Generated;

/**
 * Opcodes of the base transport header (chapter 9.2): bits 7:5 the transport, bits 4:0 the
 * operation.
 *
 * <p>Written by FormatsTest from src/main/formats/roce.txt.
 */
@Generated("FormatsTest")
public class BthTable {
  public static final int RC = 0x00;

  public static final int UC = 0x20;

  public static final int RD = 0x40;

  public static final int UD = 0x60;

  /** Extended reliable connections: the operations of {@link #RC} (annex A14). */
  public static final int XRC = 0xa0;

  /** The manufacturer-specific range that Doorbell uses. */
  public static final int DOORBELL = 0xc0;

  /**
   * Doorbell's own range for dynamic connections: the operations of {@link #RC}, with a {@link
   * DcEth} on requests.
   */
  public static final int DC = 0xe0;

  /** Bits of the transport. */
  public static final int TRANSPORT_MASK = 0xe0;

  /** Doorbell's own, as the next three. */
  public static final int MASKED_COMPARE_SWAP_8 = 0xd3;

  public static final int MASKED_FETCH_ADD_8 = 0xd4;

  public static final int MASKED_COMPARE_SWAP_4 = 0xd5;

  public static final int MASKED_FETCH_ADD_4 = 0xd6;

  /** Distance from a masked atomic of a connection to that of a dynamic connection. */
  public static final int DC_MASKED = 0xf8 - MASKED_COMPARE_SWAP_8;

  /** The congestion notification packet of RoCEv2 (annex A17). */
  public static final int CONGESTION_NOTIFICATION = 0x81;

  public static final int XRC_ETH = 1 << 0;

  public static final int DETH = 1 << 1;

  public static final int FLUSH_ETH = 1 << 2;

  public static final int RETH = 1 << 3;

  public static final int ATOMIC_ETH = 1 << 4;

  public static final int MASKED_ATOMIC_ETH = 1 << 5;

  public static final int AETH = 1 << 6;

  public static final int ATOMIC_ACK_ETH = 1 << 7;

  public static final int IMM_DT = 1 << 8;

  public static final int IETH = 1 << 9;

  public static final int DC_ETH = 1 << 10;

  public static final int SEND_FIRST = 0x00;

  public static final int SEND_MIDDLE = 0x01;

  public static final int SEND_LAST = 0x02;

  public static final int SEND_LAST_IMM = 0x03;

  public static final int SEND_ONLY = 0x04;

  public static final int SEND_ONLY_IMM = 0x05;

  public static final int WRITE_FIRST = 0x06;

  public static final int WRITE_MIDDLE = 0x07;

  public static final int WRITE_LAST = 0x08;

  public static final int WRITE_LAST_IMM = 0x09;

  public static final int WRITE_ONLY = 0x0a;

  public static final int WRITE_ONLY_IMM = 0x0b;

  public static final int READ_REQUEST = 0x0c;

  public static final int READ_RESPONSE_FIRST = 0x0d;

  public static final int READ_RESPONSE_MIDDLE = 0x0e;

  public static final int READ_RESPONSE_LAST = 0x0f;

  public static final int READ_RESPONSE_ONLY = 0x10;

  public static final int ACKNOWLEDGE = 0x11;

  public static final int ATOMIC_ACKNOWLEDGE = 0x12;

  public static final int COMPARE_SWAP = 0x13;

  public static final int FETCH_ADD = 0x14;

  public static final int SEND_LAST_INVALIDATE = 0x16;

  public static final int SEND_ONLY_INVALIDATE = 0x17;

  public static final int FLUSH = 0x1c;

  public static final int ATOMIC_WRITE = 0x1d;

  protected BthTable() {}

  /** Names an operation; empty for one that does not exist. */
  public static String operationName(int code) {
    return switch (code) {
      case SEND_FIRST -> "SEND_FIRST";
      case SEND_MIDDLE -> "SEND_MIDDLE";
      case SEND_LAST -> "SEND_LAST";
      case SEND_LAST_IMM -> "SEND_LAST_IMM";
      case SEND_ONLY -> "SEND_ONLY";
      case SEND_ONLY_IMM -> "SEND_ONLY_IMM";
      case WRITE_FIRST -> "WRITE_FIRST";
      case WRITE_MIDDLE -> "WRITE_MIDDLE";
      case WRITE_LAST -> "WRITE_LAST";
      case WRITE_LAST_IMM -> "WRITE_LAST_IMM";
      case WRITE_ONLY -> "WRITE_ONLY";
      case WRITE_ONLY_IMM -> "WRITE_ONLY_IMM";
      case READ_REQUEST -> "READ_REQUEST";
      case READ_RESPONSE_FIRST -> "READ_RESPONSE_FIRST";
      case READ_RESPONSE_MIDDLE -> "READ_RESPONSE_MIDDLE";
      case READ_RESPONSE_LAST -> "READ_RESPONSE_LAST";
      case READ_RESPONSE_ONLY -> "READ_RESPONSE_ONLY";
      case ACKNOWLEDGE -> "ACKNOWLEDGE";
      case ATOMIC_ACKNOWLEDGE -> "ATOMIC_ACKNOWLEDGE";
      case COMPARE_SWAP -> "COMPARE_SWAP";
      case FETCH_ADD -> "FETCH_ADD";
      case SEND_LAST_INVALIDATE -> "SEND_LAST_INVALIDATE";
      case SEND_ONLY_INVALIDATE -> "SEND_ONLY_INVALIDATE";
      case FLUSH -> "FLUSH";
      case ATOMIC_WRITE -> "ATOMIC_WRITE";
      default -> "";
    };
  }

  /** Names the headers behind the BTH of an operation. */
  public static String operationHeaders(int code) {
    return switch (code) {
      case SEND_LAST_IMM -> "IMM_DT";
      case SEND_ONLY_IMM -> "IMM_DT";
      case WRITE_FIRST -> "RETH";
      case WRITE_LAST_IMM -> "IMM_DT";
      case WRITE_ONLY -> "RETH";
      case WRITE_ONLY_IMM -> "RETH IMM_DT";
      case READ_REQUEST -> "RETH";
      case READ_RESPONSE_FIRST -> "AETH";
      case READ_RESPONSE_LAST -> "AETH";
      case READ_RESPONSE_ONLY -> "AETH";
      case ACKNOWLEDGE -> "AETH";
      case ATOMIC_ACKNOWLEDGE -> "AETH ATOMIC_ACK_ETH";
      case COMPARE_SWAP -> "ATOMIC_ETH";
      case FETCH_ADD -> "ATOMIC_ETH";
      case SEND_LAST_INVALIDATE -> "IETH";
      case SEND_ONLY_INVALIDATE -> "IETH";
      case FLUSH -> "FLUSH_ETH RETH";
      case ATOMIC_WRITE -> "RETH";
      default -> "";
    };
  }

  /** Returns true for an operation whose headers payload may follow. */
  public static boolean carriesPayload(int code) {
    return switch (code) {
      case SEND_FIRST,
          SEND_MIDDLE,
          SEND_LAST,
          SEND_LAST_IMM,
          SEND_ONLY,
          SEND_ONLY_IMM,
          WRITE_FIRST,
          WRITE_MIDDLE,
          WRITE_LAST,
          WRITE_LAST_IMM,
          WRITE_ONLY,
          WRITE_ONLY_IMM,
          READ_RESPONSE_FIRST,
          READ_RESPONSE_MIDDLE,
          READ_RESPONSE_LAST,
          READ_RESPONSE_ONLY,
          SEND_LAST_INVALIDATE,
          SEND_ONLY_INVALIDATE,
          ATOMIC_WRITE ->
          true;
      default -> false;
    };
  }

  /** Returns true for the first or only packet of a SEND or WRITE. */
  public static boolean startsMessage(int code) {
    return switch (code) {
      case SEND_FIRST,
          SEND_ONLY,
          SEND_ONLY_IMM,
          WRITE_FIRST,
          WRITE_ONLY,
          WRITE_ONLY_IMM,
          SEND_ONLY_INVALIDATE ->
          true;
      default -> false;
    };
  }

  /** Returns true for FIRST and MIDDLE packets, which carry exactly the path MTU. */
  public static boolean fillsMtu(int code) {
    return switch (code) {
      case SEND_FIRST,
          SEND_MIDDLE,
          WRITE_FIRST,
          WRITE_MIDDLE,
          READ_RESPONSE_FIRST,
          READ_RESPONSE_MIDDLE ->
          true;
      default -> false;
    };
  }
}
