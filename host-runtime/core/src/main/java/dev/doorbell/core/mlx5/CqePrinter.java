package dev.doorbell.core.mlx5;

import dev.doorbell.core.print.FieldTable;
import dev.doorbell.core.print.Scratch;

/** CQEs for people: in one line, or word by word with every bit field named. */
public final class CqePrinter {
  private CqePrinter() {}

  /**
   * One line, for example {@code CQE REQ RDMA_WRITE qpn=0x001234 wqe_counter=0 byte_cnt=256
   * owner=0}; an error names its syndrome and its fix.
   */
  public static String line(long address) {
    int opcode = Cqe.opcode(address);
    if (opcode == Cqe.INVALID) {
      return "CQE INVALID owner=%d: never written".formatted(Cqe.owner(address));
    }
    if (Cqe.isError(opcode)) {
      int syndrome = ErrorCqe.syndrome(address);
      return "CQE %s %s (syndrome=0x%02x vendor=0x%02x) %sqpn=0x%06x wqe_counter=%d owner=%d: %s"
          .formatted(
              Cqe.opcodeName(opcode),
              Syndrome.name(syndrome),
              syndrome,
              ErrorCqe.vendorSyndrome(address),
              opcode == Cqe.REQUESTER_ERROR ? Opcode.name(ErrorCqe.wqeOpcode(address)) + " " : "",
              Cqe.qpn(address),
              Cqe.wqeCounter(address),
              Cqe.owner(address),
              Syndrome.remedy(syndrome));
    }
    return "CQE %s%s qpn=0x%06x wqe_counter=%d byte_cnt=%d%s%s owner=%d"
        .formatted(
            Cqe.opcodeName(opcode),
            opcode == Cqe.REQUESTER ? " " + Opcode.name(Cqe.wqeOpcode(address)) : "",
            Cqe.qpn(address),
            Cqe.wqeCounter(address),
            Cqe.byteCount(address),
            immediate(opcode, address),
            Cqe.isSolicited(address) ? " solicited" : "",
            Cqe.owner(address));
  }

  /**
   * As above, for a copy in an array.
   *
   * @param cqe 64 bytes
   */
  public static String line(byte[] cqe) {
    requireEntry(cqe);
    return Scratch.with(cqe, CqePrinter::line);
  }

  /** The line, and below it a table of all words and fields; lines end with a line feed. */
  public static String full(long address) {
    FieldTable table = new FieldTable(address).title(line(address));
    if (Cqe.isError(Cqe.opcode(address))) {
      addError(table, address);
    } else {
      addSuccess(table, address);
    }
    addTail(table, address);
    return table.toString();
  }

  /**
   * As above, for a copy in an array.
   *
   * @param cqe 64 bytes
   */
  public static String full(byte[] cqe) {
    requireEntry(cqe);
    return Scratch.with(cqe, CqePrinter::full);
  }

  private static void requireEntry(byte[] cqe) {
    if (cqe.length < Cqe.BYTES) {
      throw new IllegalArgumentException("a CQE has 64 bytes, %d were given".formatted(cqe.length));
    }
  }

  private static String immediate(int opcode, long address) {
    return switch (opcode) {
      case Cqe.RESPONDER_WRITE_IMM, Cqe.RESPONDER_SEND_IMM ->
          " imm=0x%08x".formatted(Cqe.immediate(address));
      case Cqe.RESPONDER_SEND_INVAL -> " invalidated_rkey=0x%08x".formatted(Cqe.immediate(address));
      default -> "";
    };
  }

  private static void addSuccess(FieldTable table, long address) {
    table
        .words("receive, offload fields", 0, Cqe.REMOTE_QPN_OFFSET - Integer.BYTES)
        .word(Cqe.REMOTE_QPN_OFFSET - Integer.BYTES)
        .field("vlan_info", 31, 16, "")
        .field("slid", 15, 0, "")
        .word(Cqe.REMOTE_QPN_OFFSET)
        .field("flags", 31, 24, "")
        .field("rqpn", 23, 0, "")
        .words("", Cqe.REMOTE_QPN_OFFSET + Integer.BYTES, Integer.BYTES)
        .word(Cqe.USER_INDEX_OFFSET)
        .field("srqn_uidx", 31, 0, "")
        .word(Cqe.IMMEDIATE_OFFSET)
        .field("imm_inval_pkey", 31, 0, "")
        .word(Cqe.IMMEDIATE_OFFSET + Integer.BYTES)
        .field("app", 31, 24, "")
        .field("app_op", 23, 16, "")
        .field("app_info", 15, 0, "")
        .word(Cqe.BYTE_COUNT_OFFSET)
        .field("byte_cnt", 31, 0, Integer.toUnsignedString(Cqe.byteCount(address)) + " bytes")
        .wide("timestamp", Cqe.TIMESTAMP_OFFSET);
  }

  private static void addError(FieldTable table, long address) {
    table
        .words("reserved", 0, ErrorCqe.SRQN_OFFSET)
        .word(ErrorCqe.SRQN_OFFSET)
        .field("srqn", 31, 0, "")
        .words(
            "reserved",
            ErrorCqe.SRQN_OFFSET + Integer.BYTES,
            ErrorCqe.HARDWARE_SYNDROME_OFFSET - ErrorCqe.SRQN_OFFSET - Integer.BYTES)
        .word(ErrorCqe.HARDWARE_SYNDROME_OFFSET)
        .field("hw_err_synd", 31, 24, "")
        .field("hw_synd_type", 23, 16, "")
        .field("vendor_err_synd", 15, 8, "")
        .field("syndrome", 7, 0, Syndrome.name(ErrorCqe.syndrome(address)));
  }

  private static void addTail(FieldTable table, long address) {
    int opcode = Cqe.opcode(address);
    boolean ofSend = opcode == Cqe.REQUESTER || opcode == Cqe.REQUESTER_ERROR;
    table
        .word(Cqe.SOP_DROP_QPN_OFFSET)
        .field("WQE opcode", 31, 24, ofSend ? Opcode.name(Cqe.wqeOpcode(address)) : "")
        .field("qpn", 23, 0, "")
        .word(Cqe.WQE_COUNTER_OFFSET)
        .field("wqe_counter", 31, 16, (ofSend ? "block " : "WQE ") + Cqe.wqeCounter(address))
        .field("signature", 15, 8, "")
        .field("op_own: opcode", 7, 4, Cqe.opcodeName(opcode))
        .field("op_own: format", 3, 2, "")
        .field("op_own: solicited", 1, 1, "")
        .field("op_own: owner", 0, 0, "");
  }
}
