package dev.doorbell.core.roce;

import dev.doorbell.core.memory.BigEndian;
import dev.doorbell.core.print.FieldTable;
import dev.doorbell.core.roce.generated.Bth;
import java.util.Map;
import java.util.StringJoiner;

/** RoCE packets for people: in one line, or word by word with every bit field named. */
public final class PacketPrinter {
  private static final int PAYLOAD_SHOWN = 16;

  private PacketPrinter() {}

  /**
   * The transport headers in one line, for example {@code RC WRITE_ONLY qp=0x000062 psn=0x00aa10
   * ack va=0x20001000 rkey=0x00000307 len=13 payload=13}.
   *
   * @param frame parsed
   */
  public static String line(RoceFrame frame) {
    StringJoiner words = new StringJoiner(" ");
    long bth = frame.bth;
    words.add(BthOpcode.name(frame.opcode));
    words.add("qp=0x%06x".formatted(Bth.destination(bth)));
    words.add("psn=0x%06x".formatted(Bth.psn(bth)));
    if (Bth.isAckRequested(bth)) {
      words.add("ackreq");
    }
    if (Bth.isSolicited(bth)) {
      words.add("solicited");
    }
    if (Bth.isForwardCongestion(bth)) {
      words.add("fecn");
    }
    if (Bth.isBackwardCongestion(bth)) {
      words.add("becn");
    }
    if (Bth.partitionKey(bth) != Bth.DEFAULT_PKEY) {
      words.add("pkey=0x%04x".formatted(Bth.partitionKey(bth)));
    }
    for (BthOpcode.Header header : BthOpcode.Header.values()) {
      if ((frame.headers & header.bit()) != 0) {
        words.add(header.line(frame.header(header.bit())));
      }
    }
    if (frame.payloadBytes > 0) {
      words.add("payload=%d".formatted(frame.payloadBytes));
    }
    return words.toString();
  }

  /**
   * The line, and below it a table of every header from the BTH on; lines end with a line feed.
   * Offsets count from the BTH.
   *
   * @param frame parsed
   * @param expectedIcrc what the ICRC should be
   */
  public static String full(RoceFrame frame, int expectedIcrc) {
    FieldTable table = new FieldTable(frame.bth).title(line(frame));
    table.rows(0, Bth.ROWS, Map.of("BTH opcode", BthOpcode.name(frame.opcode)));
    for (BthOpcode.Header header : BthOpcode.Header.values()) {
      if ((frame.headers & header.bit()) != 0) {
        table.rows(offset(frame, header.bit()), header.rows(), meanings(header, frame));
      }
    }
    addPayload(table, frame);
    int icrc = Icrc.read(frame.icrc);
    table
        .word((int) (frame.icrc - frame.bth))
        .field(
            "ICRC",
            31,
            0,
            icrc == expectedIcrc
                ? "right"
                : "WRONG: should be 0x%08x".formatted(BigEndian.swap(expectedIcrc)));
    return table.toString();
  }

  private static int offset(RoceFrame frame, int header) {
    return (int) (frame.header(header) - frame.bth);
  }

  private static Map<String, String> meanings(BthOpcode.Header header, RoceFrame frame) {
    return header == BthOpcode.Header.AETH
        ? Map.of("AETH syndrome", Aeth.text(Aeth.syndrome(frame.header(BthOpcode.AETH))))
        : Map.of();
  }

  private static void addPayload(FieldTable table, RoceFrame frame) {
    int bytes = (int) (frame.icrc - frame.payload);
    if (bytes == 0) {
      return;
    }
    int shown = Math.min(bytes, PAYLOAD_SHOWN);
    table.words(
        "payload, %d bytes".formatted(frame.payloadBytes),
        (int) (frame.payload - frame.bth),
        shown);
    if (shown < bytes) {
      table.title("       ... %d more bytes, padding included".formatted(bytes - shown));
    }
  }
}
