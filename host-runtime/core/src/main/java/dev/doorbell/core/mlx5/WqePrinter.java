package dev.doorbell.core.mlx5;

import dev.doorbell.core.memory.RawMemory;
import dev.doorbell.core.print.FieldTable;
import dev.doorbell.core.print.Scratch;
import java.util.StringJoiner;

/**
 * WQEs for people: in one line, or word by word with every bit field named.
 *
 * <p>A WQE is given in one piece: {@link SendQueue#copyOut} makes one of a WQE that runs over the
 * end of its ring. What is malformed is printed as far as it goes, and the line says what is wrong.
 */
public final class WqePrinter {
  private static final int INLINE_BYTES_SHOWN = 16;

  private WqePrinter() {}

  /** One line, for example {@code WQE[0] RDMA_WRITE ds=3 fm_ce_se=0x08 signalled qpn=0x001234}. */
  public static String line(long address) {
    return line(address, SendQueue.UNIT * ControlSegment.MAX_DS);
  }

  /**
   * As above, for a copy in an array.
   *
   * @param wqe at least 16 bytes
   */
  public static String line(byte[] wqe) {
    requireControlSegment(wqe);
    return Scratch.with(wqe, address -> line(address, wqe.length));
  }

  /** The line, and below it a table of all words and fields; lines end with a line feed. */
  public static String full(long address) {
    return full(address, SendQueue.UNIT * ControlSegment.MAX_DS);
  }

  /**
   * As above, for a copy in an array.
   *
   * @param wqe at least 16 bytes
   */
  public static String full(byte[] wqe) {
    requireControlSegment(wqe);
    return Scratch.with(wqe, address -> full(address, wqe.length));
  }

  /** The bits of {@code fm_ce_se} in words: {@code signalled solicited fence=reads}. */
  public static String flags(int fmCeSe) {
    StringJoiner words = new StringJoiner(" ");
    words.add(
        switch (ControlSegment.completionMode(fmCeSe)) {
          case ControlSegment.CQ_UPDATE -> "signalled";
          case ControlSegment.CQ_UPDATE_AND_EVENT -> "signalled+event";
          case ControlSegment.COMPLETE_ON_FIRST_ERROR -> "unsignalled (first error only)";
          default -> "unsignalled";
        });
    if (ControlSegment.isSolicited(fmCeSe)) {
      words.add("solicited");
    }
    if (ControlSegment.fence(fmCeSe) != ControlSegment.FENCE_NONE) {
      words.add("fence=" + fenceName(fmCeSe));
    }
    return words.toString();
  }

  private static void requireControlSegment(byte[] wqe) {
    if (wqe.length < ControlSegment.BYTES) {
      throw new IllegalArgumentException(
          "a WQE starts with a control segment of 16 bytes, %d were given".formatted(wqe.length));
    }
  }

  private static String line(long address, int available) {
    int opcode = ControlSegment.opcode(address);
    int opmod = ControlSegment.opmod(address);
    int fmCeSe = ControlSegment.fmCeSe(address);
    StringJoiner words = new StringJoiner(" ");
    words.add("WQE[%d]".formatted(ControlSegment.wqeIndex(address)));
    words.add(Opcode.name(opcode));
    if (opmod != 0) {
      words.add("opmod=0x%02x".formatted(opmod));
    }
    words.add("ds=%d".formatted(ControlSegment.ds(address)));
    words.add("fm_ce_se=0x%02x".formatted(fmCeSe));
    words.add(flags(fmCeSe));
    words.add("qpn=0x%06x".formatted(ControlSegment.qpn(address)));
    String meaning = immediateMeaning(opcode);
    if (!meaning.isEmpty()) {
      words.add("%s=0x%08x".formatted(meaning, ControlSegment.immediate(address)));
    }
    WqeLayout layout = WqeLayout.of(address, available);
    for (WqeLayout.Part part : layout.parts()) {
      if (part.kind() != WqeLayout.Kind.CONTROL) {
        words.add(inLine(part, address + part.offset()));
      }
    }
    if (!layout.problem().isEmpty()) {
      words.add("MALFORMED: " + layout.problem());
    }
    return words.toString();
  }

  private static String inLine(WqeLayout.Part part, long at) {
    return switch (part.kind()) {
      case CONTROL -> throw new IllegalStateException("the line starts with it");
      case REMOTE_ADDRESS ->
          "raddr=0x%x rkey=0x%08x"
              .formatted(RemoteAddressSegment.address(at), RemoteAddressSegment.rkey(at));
      case DATA ->
          "data=%d@0x%x lkey=0x%08x"
              .formatted(DataSegment.byteCount(at), DataSegment.address(at), DataSegment.lkey(at));
      case INLINE ->
          "inline=%d:%s"
              .formatted(
                  InlineSegment.byteCount(at),
                  hex(at + InlineSegment.DATA_OFFSET, inlineBytes(part, at)));
      case ATOMIC ->
          "swap_add=0x%x compare=0x%x"
              .formatted(AtomicSegment.swapAdd(at), AtomicSegment.compare(at));
      case MASKED_ADD_4 ->
          "add=0x%x boundary=0x%x"
              .formatted(MaskedAtomicSegment.add4(at), MaskedAtomicSegment.fieldBoundary4(at));
      case MASKED_ADD_8 ->
          "add=0x%x boundary=0x%x"
              .formatted(MaskedAtomicSegment.add8(at), MaskedAtomicSegment.fieldBoundary8(at));
      case MASKED_SWAP_4 ->
          "swap=0x%x compare=0x%x swap_mask=0x%x compare_mask=0x%x"
              .formatted(
                  MaskedAtomicSegment.swap4(at),
                  MaskedAtomicSegment.compare4(at),
                  MaskedAtomicSegment.swapMask4(at),
                  MaskedAtomicSegment.compareMask4(at));
      case MASKED_SWAP_8 ->
          "swap=0x%x compare=0x%x swap_mask=0x%x compare_mask=0x%x"
              .formatted(
                  MaskedAtomicSegment.swap8(at),
                  MaskedAtomicSegment.compare8(at),
                  MaskedAtomicSegment.swapMask8(at),
                  MaskedAtomicSegment.compareMask8(at));
      case WAIT ->
          "max_index=%d cqn=0x%06x".formatted(WaitSegment.maxIndex(at), WaitSegment.cqn(at));
      case OTHER -> "+%d bytes".formatted(part.bytes());
    };
  }

  /** Payload bytes of an inline segment that are really inside of the WQE. */
  private static int inlineBytes(WqeLayout.Part part, long at) {
    return Math.min(InlineSegment.byteCount(at), part.bytes() - InlineSegment.DATA_OFFSET);
  }

  private static String hex(long address, int bytes) {
    StringBuilder text = new StringBuilder();
    int shown = Math.min(bytes, INLINE_BYTES_SHOWN);
    for (int i = 0; i < shown; i++) {
      text.append("%02x".formatted(RawMemory.getByte(address + i) & 0xff));
    }
    return text.append(shown < bytes ? "..." : "").toString();
  }

  private static String full(long address, int available) {
    WqeLayout layout = WqeLayout.of(address, available);
    FieldTable table = new FieldTable(address).title(line(address, available));
    for (WqeLayout.Part part : layout.parts()) {
      table.title(part.kind().title);
      addFields(table, part, address);
    }
    return table.toString();
  }

  private static void addFields(FieldTable table, WqeLayout.Part part, long wqe) {
    int at = part.offset();
    switch (part.kind()) {
      case CONTROL -> addControl(table, wqe);
      case REMOTE_ADDRESS ->
          table
              .wide("raddr", at + RemoteAddressSegment.ADDRESS_OFFSET)
              .word(at + RemoteAddressSegment.RKEY_OFFSET)
              .field("rkey: index", 31, 8, "")
              .field("rkey: tag", 7, 0, "")
              .word(at + 12)
              .field("reserved", 31, 0, "ignored");
      case DATA -> addData(table, at, wqe);
      case INLINE ->
          table
              .word(at + InlineSegment.BYTE_COUNT_OFFSET)
              .field("inline", 31, 31, "the bytes follow")
              .field("byte_count", 30, 0, InlineSegment.byteCount(wqe + at) + " bytes")
              .words(
                  "bytes, padded to 16",
                  at + InlineSegment.DATA_OFFSET,
                  part.bytes() - InlineSegment.DATA_OFFSET);
      case ATOMIC ->
          table
              .wide("swap_add", at + AtomicSegment.SWAP_ADD_OFFSET)
              .wide("compare", at + AtomicSegment.COMPARE_OFFSET);
      case MASKED_ADD_4 ->
          table
              .word(at)
              .field("add", 31, 0, "")
              .word(at + 4)
              .field("field boundary", 31, 0, "no carry out of these bits")
              .words("reserved", at + 8, 8);
      case MASKED_ADD_8 -> table.wide("add", at).wide("field boundary", at + 8);
      case MASKED_SWAP_4 ->
          table
              .word(at)
              .field("swap", 31, 0, "")
              .word(at + 4)
              .field("compare", 31, 0, "")
              .word(at + 8)
              .field("swap mask", 31, 0, "these bits are replaced")
              .word(at + 12)
              .field("compare mask", 31, 0, "these bits are compared");
      case MASKED_SWAP_8 ->
          table
              .wide("swap", at)
              .wide("compare", at + 8)
              .wide("swap mask", at + 16)
              .wide("compare mask", at + 24);
      case WAIT ->
          table
              .words("reserved", at, 8)
              .word(at + WaitSegment.MAX_INDEX_OFFSET)
              .field("max_index", 31, 0, "wait until the CQ's index gets there")
              .word(at + WaitSegment.NUMBER_OFFSET)
              .field("reserved", 31, 24, "")
              .field("cqn", 23, 0, "");
      case OTHER -> table.words("", at, part.bytes());
    }
  }

  private static void addControl(FieldTable table, long wqe) {
    int opcode = ControlSegment.opcode(wqe);
    int fmCeSe = ControlSegment.fmCeSe(wqe);
    int ds = ControlSegment.ds(wqe);
    int blocks = SendQueue.blocks(ds);
    String immediate = immediateMeaning(opcode);
    table
        .word(ControlSegment.OPMOD_OFFSET)
        .field("opmod", 31, 24, opmodMeaning(ControlSegment.opmod(wqe)))
        .field("wqe_index", 23, 8, "block " + ControlSegment.wqeIndex(wqe))
        .field("opcode", 7, 0, Opcode.name(opcode))
        .word(ControlSegment.QPN_DS_OFFSET)
        .field("qpn", 31, 8, "")
        .field("reserved", 7, 6, "")
        .field(
            "ds",
            5,
            0,
            "%d units, %d bytes, %d block%s"
                .formatted(ds, ds * SendQueue.UNIT, blocks, blocks == 1 ? "" : "s"))
        .word(ControlSegment.SIGNATURE_OFFSET)
        .field("signature", 31, 24, "")
        .field("dci_stream_channel_id", 23, 8, "")
        .field("fm_ce_se: fence", 7, 5, fenceName(fmCeSe))
        .field("fm_ce_se: reserved", 4, 4, "")
        .field("fm_ce_se: completion", 3, 2, completionMeaning(fmCeSe))
        .field("fm_ce_se: solicited", 1, 1, ControlSegment.isSolicited(fmCeSe) ? "yes" : "no")
        .field("fm_ce_se: reserved", 0, 0, "")
        .word(ControlSegment.IMMEDIATE_OFFSET)
        .field(immediate.isEmpty() ? "imm" : immediate, 31, 0, immediate.isEmpty() ? "unused" : "");
  }

  private static void addData(FieldTable table, int at, long wqe) {
    table
        .word(at + DataSegment.BYTE_COUNT_OFFSET)
        .field("inline", 31, 31, "")
        .field("byte_count", 30, 0, DataSegment.byteCount(wqe + at) + " bytes")
        .word(at + DataSegment.LKEY_OFFSET)
        .field("lkey: index", 31, 8, "")
        .field("lkey: tag", 7, 0, "")
        .wide("addr", at + DataSegment.ADDRESS_OFFSET);
  }

  private static String opmodMeaning(int opmod) {
    int cell = MaskedAtomicSegment.cellBytes(opmod);
    return cell == 0 ? "" : "extended atomic on %d bytes".formatted(cell);
  }

  private static String immediateMeaning(int opcode) {
    return switch (opcode) {
      case Opcode.RDMA_WRITE_IMM, Opcode.SEND_IMM -> "imm";
      case Opcode.SEND_INVAL, Opcode.LOCAL_INVAL -> "invalidate rkey";
      case Opcode.UMR -> "mkey";
      default -> "";
    };
  }

  private static String fenceName(int fmCeSe) {
    return switch (ControlSegment.fence(fmCeSe)) {
      case ControlSegment.FENCE_NONE -> "none";
      case ControlSegment.FENCE_INITIATOR_SMALL -> "initiator-small";
      case ControlSegment.FENCE_READS -> "reads";
      case ControlSegment.FENCE_STRONG_ORDERING -> "strong-ordering";
      case ControlSegment.FENCE_READS_AND_SMALL -> "reads+small";
      default -> "undefined";
    };
  }

  private static String completionMeaning(int fmCeSe) {
    return switch (ControlSegment.completionMode(fmCeSe)) {
      case ControlSegment.CQ_UPDATE -> "always a CQE";
      case ControlSegment.CQ_UPDATE_AND_EVENT -> "always a CQE, and an event";
      case ControlSegment.COMPLETE_ON_FIRST_ERROR -> "a CQE on the first error";
      default -> "a CQE on error";
    };
  }
}
