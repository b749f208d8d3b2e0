package dev.doorbell.core.roce;

import dev.doorbell.core.roce.generated.AtomicAckEth;
import dev.doorbell.core.roce.generated.AtomicEth;
import dev.doorbell.core.roce.generated.BthTable;
import dev.doorbell.core.roce.generated.DcEth;
import dev.doorbell.core.roce.generated.Deth;
import dev.doorbell.core.roce.generated.FlushEth;
import dev.doorbell.core.roce.generated.Ieth;
import dev.doorbell.core.roce.generated.ImmDt;
import dev.doorbell.core.roce.generated.MaskedAtomicEth;
import dev.doorbell.core.roce.generated.Reth;
import dev.doorbell.core.roce.generated.XrcEth;
import java.util.function.LongFunction;

/** Opcodes of the base transport header, and the headers that follow it. */
public final class BthOpcode extends BthTable {
  private static final int OPERATION_MASK = 0x1f;

  /** The headers of each opcode, or -1 for one that does not exist. */
  private static final short[] HEADERS = new short[256];

  private static final byte[] HEADER_BYTES = new byte[256];

  static {
    for (int opcode = 0; opcode < HEADERS.length; opcode++) {
      int headers = headersOf(opcode);
      HEADERS[opcode] = (short) headers;
      HEADER_BYTES[opcode] = (byte) (headers < 0 ? 0 : bytesOf(headers));
    }
  }

  private BthOpcode() {}

  /** A header behind the BTH, in the order in which they stand on the wire. */
  enum Header {
    XRC_ETH(XrcEth.BYTES, XrcEth.ROWS, XrcEth::line),
    DETH(Deth.BYTES, Deth.ROWS, Deth::line),
    FLUSH_ETH(FlushEth.BYTES, FlushEth.ROWS, FlushEth::line),
    RETH(Reth.BYTES, Reth.ROWS, Reth::line),
    ATOMIC_ETH(AtomicEth.BYTES, AtomicEth.ROWS, AtomicEth::line),
    MASKED_ATOMIC_ETH(
        MaskedAtomicEth.BYTES,
        AtomicEth.ROWS + MaskedAtomicEth.ROWS,
        at -> AtomicEth.line(at) + " " + MaskedAtomicEth.line(at)),
    AETH(Aeth.BYTES, Aeth.ROWS, Aeth::line),
    ATOMIC_ACK_ETH(AtomicAckEth.BYTES, AtomicAckEth.ROWS, AtomicAckEth::line),
    IMM_DT(ImmDt.BYTES, ImmDt.ROWS, ImmDt::line),
    IETH(Ieth.BYTES, Ieth.ROWS, Ieth::line),
    DC_ETH(DcEth.BYTES, DcEth.ROWS, DcEth::line);

    private static final Header[] ALL = values();

    private final int bytes;
    private final String rows;

    @SuppressWarnings("ImmutableEnumChecker") // a static method
    private final LongFunction<String> line;

    Header(int bytes, String rows, LongFunction<String> line) {
      this.bytes = bytes;
      this.rows = rows;
      this.line = line;
    }

    @SuppressWarnings("EnumOrdinal") // a set of headers is an int, and nothing stores it
    int bit() {
      return 1 << ordinal();
    }

    String rows() {
      return rows;
    }

    /** Shows the header at an address in one line. */
    String line(long at) {
      return line.apply(at);
    }
  }

  /** Returns the headers that stand behind the BTH, or -1 when there is no such opcode. */
  public static int headers(int opcode) {
    return HEADERS[opcode];
  }

  /** Returns the bytes of the headers behind the BTH. */
  public static int headerBytes(int opcode) {
    return HEADER_BYTES[opcode];
  }

  /** Returns {@link #RC}, {@link #UC}, {@link #RD}, {@link #UD} or another range. */
  public static int transport(int opcode) {
    return opcode & TRANSPORT_MASK;
  }

  /** Returns true for the packets that a responder of a reliable connection sends. */
  public static boolean isResponse(int opcode) {
    return opcode >= READ_RESPONSE_FIRST && opcode <= ATOMIC_ACKNOWLEDGE;
  }

  /** Returns true if payload may follow the headers. */
  public static boolean hasPayload(int opcode) {
    return transport(opcode) != DOORBELL && carriesPayload(opcode & OPERATION_MASK);
  }

  /** Returns true for the first or only packet of a SEND or WRITE. */
  public static boolean isFirst(int opcode) {
    return startsMessage(opcode & OPERATION_MASK);
  }

  /** Returns true for FIRST and MIDDLE packets: they carry exactly the path MTU. */
  public static boolean isFull(int opcode) {
    return fillsMtu(opcode & OPERATION_MASK);
  }

  /** Name for messages: {@code RC WRITE_FIRST}. */
  public static String name(int opcode) {
    return switch (opcode) {
      case CONGESTION_NOTIFICATION -> "CNP";
      case MASKED_COMPARE_SWAP_8 -> "Doorbell MASKED_COMPARE_SWAP 8";
      case MASKED_FETCH_ADD_8 -> "Doorbell MASKED_FETCH_ADD 8";
      case MASKED_COMPARE_SWAP_4 -> "Doorbell MASKED_COMPARE_SWAP 4";
      case MASKED_FETCH_ADD_4 -> "Doorbell MASKED_FETCH_ADD 4";
      case MASKED_COMPARE_SWAP_8 + DC_MASKED,
          MASKED_FETCH_ADD_8 + DC_MASKED,
          MASKED_COMPARE_SWAP_4 + DC_MASKED,
          MASKED_FETCH_ADD_4 + DC_MASKED ->
          name(opcode - DC_MASKED).replace("Doorbell", "Doorbell DC");
      default ->
          headers(opcode) < 0
              ? "unknown opcode 0x%02x".formatted(opcode)
              : transportName(opcode) + " " + operationName(opcode & OPERATION_MASK);
    };
  }

  private static String transportName(int opcode) {
    return switch (transport(opcode)) {
      case RC -> "RC";
      case UC -> "UC";
      case XRC -> "XRC";
      case DC -> "Doorbell DC";
      default -> "UD";
    };
  }

  private static int headersOf(int opcode) {
    int operation = opcode & OPERATION_MASK;
    return switch (transport(opcode)) {
      case RC -> operationName(operation).isEmpty() ? -1 : ofOperation(operation);
      case UC -> operation <= WRITE_ONLY_IMM ? ofOperation(operation) : -1;
      case UD ->
          operation == SEND_ONLY || operation == SEND_ONLY_IMM ? DETH | ofOperation(operation) : -1;
      case DOORBELL ->
          opcode >= MASKED_COMPARE_SWAP_8 && opcode <= MASKED_FETCH_ADD_4 ? MASKED_ATOMIC_ETH : -1;
      case XRC -> {
        int headers = headersOf(operation);
        yield headers < 0 || isResponse(operation) ? headers : XRC_ETH | headers;
      }
      case DC -> ofDynamic(opcode, operation);
      default -> opcode == CONGESTION_NOTIFICATION ? 0 : -1;
    };
  }

  private static int ofDynamic(int opcode, int operation) {
    boolean shared = operation < FLUSH && !operationName(operation).isEmpty();
    int headers = headersOf(shared ? operation : opcode - DC_MASKED);
    return headers < 0 || isResponse(operation) ? headers : DC_ETH | headers;
  }

  private static int ofOperation(int operation) {
    int headers = 0;
    for (Header header : Header.ALL) {
      for (String name : operationHeaders(operation).split(" ", -1)) {
        headers |= header.name().equals(name) ? header.bit() : 0;
      }
    }
    return headers;
  }

  static int bytesOf(int headers) {
    int sum = 0;
    for (int left = headers; left != 0; left &= left - 1) {
      sum += Header.ALL[Integer.numberOfTrailingZeros(left)].bytes;
    }
    return sum;
  }
}
