package dev.doorbell.core.mlx5;

import dev.doorbell.core.memory.RawMemory;
import dev.doorbell.core.mlx5.generated.DataSegment;
import dev.doorbell.core.mlx5.generated.DatagramSegment;
import dev.doorbell.core.mlx5.generated.EthernetFields;
import dev.doorbell.core.print.FieldTable;
import dev.doorbell.core.print.Scratch;
import java.util.Map;
import java.util.StringJoiner;

/**
 * WQEs for people: in one line, or word by word with every bit field named.
 *
 * <p>A WQE is given in one piece, also one that runs over the end of its ring. A malformed one is
 * printed as far as it goes, and the line says what is wrong.
 */
public final class WqePrinter {
  private static final int INLINE_BYTES_SHOWN = 16;
  private static final int HEADER_BYTES_SHOWN = 64;

  private WqePrinter() {}

  /** One line, for example {@code WQE[0] RDMA_WRITE ds=3 fm_ce_se=0x08 signalled qpn=0x001234}. */
  public static String line(long address) {
    return line(address, SendQueue.UNIT * ControlSegment.MAX_DS, WqeQueue.RC);
  }

  /** Same, of another kind of queue. */
  public static String line(byte[] wqe, WqeQueue queue) {
    requireControlSegment(wqe);
    return Scratch.with(wqe, address -> line(address, wqe.length, queue));
  }

  /** The line, and below it a table of all words and fields; lines end with a line feed. */
  public static String full(long address) {
    return full(address, SendQueue.UNIT * ControlSegment.MAX_DS, WqeQueue.RC);
  }

  /** Same, of another kind of queue. */
  public static String full(byte[] wqe, WqeQueue queue) {
    requireControlSegment(wqe);
    return Scratch.with(wqe, address -> full(address, wqe.length, queue));
  }

  /** The bits of {@code fm_ce_se} in words: {@code signalled solicited fence=reads}. */
  public static String flags(int fmCeSe) {
    StringJoiner words = new StringJoiner(" ");
    words.add(ControlSegment.completionName(ControlSegment.completionMode(fmCeSe)));
    if (ControlSegment.isSolicited(fmCeSe)) {
      words.add("solicited");
    }
    if (ControlSegment.fence(fmCeSe) != ControlSegment.FENCE_NONE) {
      words.add("fence=" + ControlSegment.fenceName(ControlSegment.fence(fmCeSe)));
    }
    return words.toString();
  }

  private static void requireControlSegment(byte[] wqe) {
    if (wqe.length < ControlSegment.BYTES) {
      throw new IllegalArgumentException(
          "a WQE starts with a control segment of 16 bytes, %d were given".formatted(wqe.length));
    }
  }

  private static String line(long address, int available, WqeQueue queue) {
    int opcode = ControlSegment.opcode(address);
    int opmod = ControlSegment.opmod(address);
    int fmCeSe = ControlSegment.fmCeSe(address);
    StringJoiner words = new StringJoiner(" ");
    words.add("WQE[%d]".formatted(ControlSegment.wqeIndex(address)));
    words.add((queue == WqeQueue.RC ? "" : queue + " ") + Opcode.name(opcode));
    if (opmod != 0) {
      words.add("opmod=0x%02x".formatted(opmod));
    }
    words.add("ds=%d".formatted(ControlSegment.ds(address)));
    words.add("fm_ce_se=0x%02x".formatted(fmCeSe));
    words.add(flags(fmCeSe));
    words.add("qpn=0x%06x".formatted(ControlSegment.qpn(address)));
    String meaning = Opcode.immediateMeaning(opcode);
    if (!meaning.isEmpty()) {
      words.add("%s=0x%08x".formatted(meaning, ControlSegment.immediate(address)));
    }
    WqeLayout layout = WqeLayout.of(address, available, queue);
    for (WqeLayout.Part part : layout.parts()) {
      if (part.kind() != WqeLayout.Kind.CONTROL) {
        words.add(inLine(part, address + part.offset(), queue));
      }
    }
    if (!layout.problem().isEmpty()) {
      words.add("MALFORMED: " + layout.problem());
    }
    return words.toString();
  }

  private static String inLine(WqeLayout.Part part, long at, WqeQueue queue) {
    return switch (part.kind()) {
      case INLINE ->
          "inline=%d:%s"
              .formatted(
                  InlineSegment.byteCount(at),
                  hex(at + InlineSegment.DATA_OFFSET, inlineBytes(part, at), INLINE_BYTES_SHOWN));
      case OTHER -> "+%d bytes".formatted(part.bytes());
      case SHORT_VECTOR -> key(at, queue);
      case DATAGRAM ->
          "%s %s dgid=%s"
              .formatted(key(at, queue), part.kind().line.apply(at), globalIdentifier(at));
      case ETHERNET ->
          part.kind().line.apply(at)
              + ":"
              + hex(
                  at + EthernetSegment.HEADER_OFFSET,
                  Math.min(
                      EthernetFields.headerBytes(at), part.bytes() - EthernetSegment.HEADER_OFFSET),
                  HEADER_BYTES_SHOWN);
      default -> part.kind().line.apply(at);
    };
  }

  private static String key(long at, WqeQueue queue) {
    return queue == WqeQueue.DC
        ? "dc_key=0x%x dctn=0x%x"
            .formatted(DatagramSegment.accessKey(at), DatagramSegment.destination(at))
        : "qkey=0x%08x qpn=0x%x"
            .formatted(DatagramSegment.queueKey(at), DatagramSegment.destination(at));
  }

  private static String globalIdentifier(long at) {
    long high = DatagramSegment.gidHigh(at);
    long low = DatagramSegment.gidLow(at);
    if (high == 0 && low >>> 32 == 0xffff) {
      return "::ffff:%d.%d.%d.%d"
          .formatted(low >>> 24 & 0xff, low >>> 16 & 0xff, low >>> 8 & 0xff, low & 0xff);
    }
    return "%016x%016x".formatted(high, low).replaceAll("(....)(?=.)", "$1:");
  }

  /** Payload bytes of an inline segment that are really inside of the WQE. */
  private static int inlineBytes(WqeLayout.Part part, long at) {
    return Math.min(InlineSegment.byteCount(at), part.bytes() - InlineSegment.DATA_OFFSET);
  }

  private static String hex(long address, int bytes, int most) {
    StringBuilder text = new StringBuilder();
    int shown = Math.min(bytes, most);
    for (int i = 0; i < shown; i++) {
      text.append("%02x".formatted(RawMemory.getByte(address + i) & 0xff));
    }
    return text.append(shown < bytes ? "..." : "").toString();
  }

  private static String full(long address, int available, WqeQueue queue) {
    WqeLayout layout = WqeLayout.of(address, available, queue);
    FieldTable table = new FieldTable(address).title(line(address, available, queue));
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
      case DATA -> table.rows(at, DataSegment.ROWS, byteCount(wqe + at));
      case INLINE ->
          table
              .rows(at, InlineSegment.ROWS, byteCount(wqe + at))
              .words(
                  "bytes, padded to 16",
                  at + InlineSegment.DATA_OFFSET,
                  part.bytes() - InlineSegment.DATA_OFFSET);
      case OTHER, SHORT_VECTOR -> table.words("", at, part.bytes());
      case ETHERNET ->
          table
              .rows(at, part.kind().rows, Map.of())
              .words("inline header", at + SendQueue.UNIT, part.bytes() - SendQueue.UNIT);
      default -> table.rows(at, part.kind().rows, Map.of());
    }
  }

  private static Map<String, String> byteCount(long segment) {
    return Map.of("byte_count", DataSegment.byteCount(segment) + " bytes");
  }

  private static void addControl(FieldTable table, long wqe) {
    int opcode = ControlSegment.opcode(wqe);
    int fmCeSe = ControlSegment.fmCeSe(wqe);
    int ds = ControlSegment.ds(wqe);
    int blocks = SendQueue.blocks(ds);
    String immediate = Opcode.immediateMeaning(opcode);
    String last = immediate.isEmpty() ? "imm|unused" : immediate + "|";
    table.rows(
        0,
        ControlSegment.ROWS.replace("imm|", last),
        Map.of(
            "opmod", opmodMeaning(ControlSegment.opmod(wqe)),
            "wqe_index", "block " + ControlSegment.wqeIndex(wqe),
            "opcode", Opcode.name(opcode),
            "ds",
                "%d units, %d bytes, %d block%s"
                    .formatted(ds, ds * SendQueue.UNIT, blocks, blocks == 1 ? "" : "s"),
            "fm_ce_se: fence", ControlSegment.fenceName(ControlSegment.fence(fmCeSe)),
            "fm_ce_se: completion",
                ControlSegment.completionMeaning(ControlSegment.completionMode(fmCeSe)),
            "fm_ce_se: solicited", ControlSegment.isSolicited(fmCeSe) ? "yes" : "no"));
  }

  private static String opmodMeaning(int opmod) {
    int cell = MaskedAtomicSegment.cellBytes(opmod);
    return cell == 0 ? "" : "extended atomic on %d bytes".formatted(cell);
  }
}
