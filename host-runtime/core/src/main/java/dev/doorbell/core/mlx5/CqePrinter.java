package dev.doorbell.core.mlx5;

import dev.doorbell.core.mlx5.generated.CqeTail;
import dev.doorbell.core.print.FieldTable;
import dev.doorbell.core.print.Scratch;
import java.util.Map;

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
              opcode == Cqe.REQUESTER_ERROR ? Opcode.name(Cqe.wqeOpcode(address)) + " " : "",
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
   * Same, for a copy in an array.
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
      String syndrome = Syndrome.name(ErrorCqe.syndrome(address));
      table.rows(0, ErrorCqe.ROWS, Map.of("syndrome", syndrome));
    } else {
      String bytes = Integer.toUnsignedString(Cqe.byteCount(address)) + " bytes";
      table.rows(0, Cqe.ROWS, Map.of("byte_cnt", bytes));
    }
    addTail(table, address);
    return table.toString();
  }

  /**
   * Same, for a copy in an array.
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

  private static void addTail(FieldTable table, long address) {
    int opcode = Cqe.opcode(address);
    boolean ofSend = opcode == Cqe.REQUESTER || opcode == Cqe.REQUESTER_ERROR;
    table.rows(
        0,
        CqeTail.ROWS,
        Map.of(
            "WQE opcode",
            ofSend ? Opcode.name(Cqe.wqeOpcode(address)) : "",
            "wqe_counter",
            (ofSend ? "block " : "WQE ") + Cqe.wqeCounter(address),
            "op_own: opcode",
            Cqe.opcodeName(opcode)));
  }
}
