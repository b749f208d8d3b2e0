package dev.doorbell.core.roce;

import dev.doorbell.core.memory.BigEndian;
import dev.doorbell.core.print.FieldTable;
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
      long at = frame.extended;
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
    addBth(table, frame);
    if ((frame.headers & BthOpcode.DETH) != 0) {
      table.word(offset(frame, BthOpcode.DETH)).field("DETH qkey", 31, 0, "");
      table
          .word(offset(frame, BthOpcode.DETH) + Deth.SOURCE_OFFSET)
          .field("reserved", 31, 24, "")
          .field("source queue pair", 23, 0, "");
    }
    if ((frame.headers & BthOpcode.RETH) != 0) {
      int at = offset(frame, BthOpcode.RETH);
      table
          .wide("RETH virtual address", at + Reth.ADDRESS_OFFSET)
          .word(at + Reth.RKEY_OFFSET)
          .field("R_Key", 31, 0, "")
          .word(at + Reth.LENGTH_OFFSET)
          .field("DMA length", 31, 0, "bytes of the whole message");
    }
    if ((frame.headers & (BthOpcode.ATOMIC_ETH | BthOpcode.MASKED_ATOMIC_ETH)) != 0) {
      addAtomic(table, frame);
    }
    if ((frame.headers & BthOpcode.AETH) != 0) {
      int syndrome = Aeth.syndrome(frame.header(BthOpcode.AETH));
      table
          .word(offset(frame, BthOpcode.AETH))
          .field("AETH syndrome", 31, 24, Aeth.text(syndrome))
          .field("MSN", 23, 0, "messages carried out");
    }
    if ((frame.headers & BthOpcode.ATOMIC_ACK_ETH) != 0) {
      table.wide("AtomicAckETH original", offset(frame, BthOpcode.ATOMIC_ACK_ETH));
    }
    if ((frame.headers & BthOpcode.IMM_DT) != 0) {
      table.word(offset(frame, BthOpcode.IMM_DT)).field("ImmDt", 31, 0, "");
    }
    if ((frame.headers & BthOpcode.IETH) != 0) {
      table.word(offset(frame, BthOpcode.IETH)).field("IETH R_Key", 31, 0, "");
    }
    if ((frame.headers & BthOpcode.DC_ETH) != 0) {
      int at = offset(frame, BthOpcode.DC_ETH);
      table
          .wide("DC access key", at + DcEth.ACCESS_KEY_OFFSET)
          .word(at + DcEth.INITIATOR_OFFSET)
          .field("log MTU", 31, 24, "")
          .field("initiator's queue pair", 23, 0, "")
          .word(at + DcEth.FIRST_PSN_OFFSET)
          .field("reserved", 31, 24, "")
          .field("first PSN of the connection", 23, 0, "")
          .wide("connection", at + DcEth.CONNECTION_OFFSET);
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

  private static void addBth(FieldTable table, RoceFrame frame) {
    table
        .word(0)
        .field("BTH opcode", 31, 24, BthOpcode.name(frame.opcode))
        .field("solicited event", 23, 23, "")
        .field("migration state", 22, 22, "")
        .field("pad count", 21, 20, "bytes after the payload")
        .field("header version", 19, 16, "must be 0")
        .field("P_Key", 15, 0, "")
        .word(Bth.DESTINATION_OFFSET)
        .field("FECN", 31, 31, "")
        .field("BECN", 30, 30, "")
        .field("reserved", 29, 24, "")
        .field("destination queue pair", 23, 0, "")
        .word(Bth.PSN_OFFSET)
        .field("ack request", 31, 31, "")
        .field("reserved", 30, 24, "")
        .field("PSN", 23, 0, "");
  }

  private static void addAtomic(FieldTable table, RoceFrame frame) {
    int at = Bth.BYTES;
    table
        .wide("AtomicETH address", at + AtomicEth.ADDRESS_OFFSET)
        .word(at + AtomicEth.RKEY_OFFSET)
        .field("R_Key", 31, 0, "")
        .wide("swap or add", at + AtomicEth.SWAP_ADD_OFFSET)
        .wide("compare", at + AtomicEth.COMPARE_OFFSET);
    if ((frame.headers & BthOpcode.MASKED_ATOMIC_ETH) != 0) {
      table
          .wide("swap mask", at + MaskedAtomicEth.SWAP_MASK_OFFSET)
          .wide("compare mask", at + MaskedAtomicEth.COMPARE_MASK_OFFSET);
    }
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
