package dev.doorbell.core.roce;

import dev.doorbell.core.memory.BigEndian;
import dev.doorbell.core.print.FieldTable;
import dev.doorbell.core.roce.generated.AtomicAckEth;
import dev.doorbell.core.roce.generated.AtomicEth;
import dev.doorbell.core.roce.generated.Bth;
import dev.doorbell.core.roce.generated.DcEth;
import dev.doorbell.core.roce.generated.Deth;
import dev.doorbell.core.roce.generated.Ieth;
import dev.doorbell.core.roce.generated.ImmDt;
import dev.doorbell.core.roce.generated.MaskedAtomicEth;
import dev.doorbell.core.roce.generated.Reth;
import dev.doorbell.core.roce.generated.XrcEth;
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
    addHeaders(words, frame);
    if (frame.payloadBytes > 0) {
      words.add("payload=%d".formatted(frame.payloadBytes));
    }
    return words.toString();
  }

  private static void addHeaders(StringJoiner words, RoceFrame frame) {
    int headers = frame.headers;
    if ((headers & BthOpcode.XRC_ETH) != 0) {
      words.add("srq=0x%06x".formatted(XrcEth.sharedQueue(frame.extended)));
    }
    if ((headers & BthOpcode.DETH) != 0) {
      long at = frame.header(BthOpcode.DETH);
      words.add("qkey=0x%08x srcqp=0x%06x".formatted(Deth.qkey(at), Deth.sourceQueuePair(at)));
    }
    if ((headers & BthOpcode.RETH) != 0) {
      long at = frame.header(BthOpcode.RETH);
      words.add(
          "va=0x%x rkey=0x%08x len=%s"
              .formatted(
                  Reth.virtualAddress(at),
                  Reth.rkey(at),
                  Integer.toUnsignedString(Reth.length(at))));
    }
    if ((headers & (BthOpcode.ATOMIC_ETH | BthOpcode.MASKED_ATOMIC_ETH)) != 0) {
      long at = frame.header(headers & (BthOpcode.ATOMIC_ETH | BthOpcode.MASKED_ATOMIC_ETH));
      words.add(
          "va=0x%x rkey=0x%08x swap_add=0x%x compare=0x%x"
              .formatted(
                  AtomicEth.virtualAddress(at),
                  AtomicEth.rkey(at),
                  AtomicEth.swapAdd(at),
                  AtomicEth.compare(at)));
      if ((headers & BthOpcode.MASKED_ATOMIC_ETH) != 0) {
        words.add(
            "swap_mask=0x%x compare_mask=0x%x"
                .formatted(MaskedAtomicEth.swapMask(at), MaskedAtomicEth.compareMask(at)));
      }
    }
    if ((headers & BthOpcode.AETH) != 0) {
      long at = frame.header(BthOpcode.AETH);
      words.add("%s msn=%d".formatted(Aeth.text(Aeth.syndrome(at)), Aeth.msn(at)));
    }
    if ((headers & BthOpcode.ATOMIC_ACK_ETH) != 0) {
      words.add(
          "original=0x%x".formatted(AtomicAckEth.original(frame.header(BthOpcode.ATOMIC_ACK_ETH))));
    }
    if ((headers & BthOpcode.IMM_DT) != 0) {
      words.add("imm=0x%08x".formatted(ImmDt.immediate(frame.header(BthOpcode.IMM_DT))));
    }
    if ((headers & BthOpcode.IETH) != 0) {
      words.add("invalidate_rkey=0x%08x".formatted(Ieth.rkey(frame.header(BthOpcode.IETH))));
    }
    if ((headers & BthOpcode.DC_ETH) != 0) {
      long at = frame.header(BthOpcode.DC_ETH);
      words.add(
          "dckey=0x%x dci=0x%06x first=0x%06x connection=0x%x"
              .formatted(
                  DcEth.accessKey(at),
                  DcEth.initiator(at),
                  DcEth.firstPsn(at),
                  DcEth.connection(at)));
    }
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
