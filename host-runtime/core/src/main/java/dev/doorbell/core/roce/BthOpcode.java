package dev.doorbell.core.roce;

/**
 * Opcodes of the base transport header (InfiniBand specification, chapter 9.2): bits 7:5 the
 * transport, bits 4:0 the operation; and what headers each has.
 */
public final class BthOpcode {
  // Transports.
  public static final int RC = 0x00;
  public static final int UC = 0x20;
  public static final int RD = 0x40;
  public static final int UD = 0x60;

  /** The manufacturer-specific range that Doorbell uses. */
  public static final int DOORBELL = 0xc0;

  /**
   * Doorbell's own range for dynamic connections: the operations of {@link #RC}, with a {@link
   * DcEth} on requests.
   */
  public static final int DC = 0xe0;

  /** Bits of the transport. */
  public static final int TRANSPORT_MASK = 0xe0;

  // Operations.
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

  // Doorbell's own.
  public static final int MASKED_COMPARE_SWAP_8 = 0xd3;
  public static final int MASKED_FETCH_ADD_8 = 0xd4;
  public static final int MASKED_COMPARE_SWAP_4 = 0xd5;
  public static final int MASKED_FETCH_ADD_4 = 0xd6;

  /** From an atomic under masks of a connection to that of a dynamic connection. */
  public static final int DC_MASKED = 0xf8 - MASKED_COMPARE_SWAP_8;

  /** The congestion notification packet of RoCEv2 (annex A17). */
  public static final int CONGESTION_NOTIFICATION = 0x81;

  // Headers behind the BTH, in the order in which they stand on the wire.
  public static final int DETH = 1;
  public static final int RETH = 1 << 1;
  public static final int ATOMIC_ETH = 1 << 2;
  public static final int MASKED_ATOMIC_ETH = 1 << 3;
  public static final int AETH = 1 << 4;
  public static final int ATOMIC_ACK_ETH = 1 << 5;
  public static final int IMM_DT = 1 << 6;
  public static final int IETH = 1 << 7;

  public static final int DC_ETH = 1 << 8;

  private static final int OPERATIONS = 0x18;
  private static final int OPERATION_MASK = 0x1f;
  private static final String[] NAMES = {
    "SEND_FIRST",
    "SEND_MIDDLE",
    "SEND_LAST",
    "SEND_LAST_IMM",
    "SEND_ONLY",
    "SEND_ONLY_IMM",
    "WRITE_FIRST",
    "WRITE_MIDDLE",
    "WRITE_LAST",
    "WRITE_LAST_IMM",
    "WRITE_ONLY",
    "WRITE_ONLY_IMM",
    "READ_REQUEST",
    "READ_RESPONSE_FIRST",
    "READ_RESPONSE_MIDDLE",
    "READ_RESPONSE_LAST",
    "READ_RESPONSE_ONLY",
    "ACKNOWLEDGE",
    "ATOMIC_ACKNOWLEDGE",
    "COMPARE_SWAP",
    "FETCH_ADD",
    "",
    "SEND_LAST_INVALIDATE",
    "SEND_ONLY_INVALIDATE"
  };

  /** Of each opcode: the headers, or -1 for one that there is not. */
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

  /** The headers that stand behind the BTH, or -1 when there is no such opcode. */
  public static int headers(int opcode) {
    return HEADERS[opcode];
  }

  /** Bytes of the headers behind the BTH. */
  public static int headerBytes(int opcode) {
    return HEADER_BYTES[opcode];
  }

  /** {@link #RC}, {@link #UC}, {@link #RD}, {@link #UD} or another range. */
  public static int transport(int opcode) {
    return opcode & TRANSPORT_MASK;
  }

  /** True for what a responder of a reliable connection sends. */
  public static boolean isResponse(int opcode) {
    return opcode >= READ_RESPONSE_FIRST && opcode <= ATOMIC_ACKNOWLEDGE;
  }

  /** True where payload may follow the headers. */
  public static boolean hasPayload(int opcode) {
    int operation = opcode & OPERATION_MASK;
    return transport(opcode) != DOORBELL
        && (operation <= WRITE_ONLY_IMM
            || (operation >= READ_RESPONSE_FIRST && operation <= READ_RESPONSE_ONLY)
            || operation == SEND_LAST_INVALIDATE
            || operation == SEND_ONLY_INVALIDATE);
  }

  /** True for the first or only packet of a SEND or WRITE. */
  public static boolean isFirst(int opcode) {
    return switch (opcode & OPERATION_MASK) {
      case SEND_FIRST,
          SEND_ONLY,
          SEND_ONLY_IMM,
          SEND_ONLY_INVALIDATE,
          WRITE_FIRST,
          WRITE_ONLY,
          WRITE_ONLY_IMM ->
          true;
      default -> false;
    };
  }

  /** True for FIRST and MIDDLE packets: they carry exactly the path MTU. */
  public static boolean isFull(int opcode) {
    return switch (opcode & OPERATION_MASK) {
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
              : transportName(opcode) + " " + NAMES[opcode & OPERATION_MASK];
    };
  }

  private static String transportName(int opcode) {
    return switch (transport(opcode)) {
      case RC -> "RC";
      case UC -> "UC";
      case DC -> "Doorbell DC";
      default -> "UD";
    };
  }

  private static int headersOf(int opcode) {
    int operation = opcode & OPERATION_MASK;
    return switch (transport(opcode)) {
      case RC -> operation < OPERATIONS && operation != 0x15 ? ofOperation(operation) : -1;
      case UC -> operation <= WRITE_ONLY_IMM ? ofOperation(operation) : -1;
      case UD ->
          operation == SEND_ONLY || operation == SEND_ONLY_IMM ? DETH | ofOperation(operation) : -1;
      case DOORBELL ->
          opcode >= MASKED_COMPARE_SWAP_8 && opcode <= MASKED_FETCH_ADD_4 ? MASKED_ATOMIC_ETH : -1;
      case DC -> ofDynamic(opcode, operation);
      default -> opcode == CONGESTION_NOTIFICATION ? 0 : -1;
    };
  }

  private static int ofDynamic(int opcode, int operation) {
    int headers = headersOf(operation < OPERATIONS ? operation : opcode - DC_MASKED);
    return headers < 0 || isResponse(operation) ? headers : DC_ETH | headers;
  }

  private static int ofOperation(int operation) {
    return switch (operation) {
      case SEND_LAST_IMM, SEND_ONLY_IMM, WRITE_LAST_IMM -> IMM_DT;
      case WRITE_FIRST, WRITE_ONLY, READ_REQUEST -> RETH;
      case WRITE_ONLY_IMM -> RETH | IMM_DT;
      case READ_RESPONSE_FIRST, READ_RESPONSE_LAST, READ_RESPONSE_ONLY, ACKNOWLEDGE -> AETH;
      case ATOMIC_ACKNOWLEDGE -> AETH | ATOMIC_ACK_ETH;
      case COMPARE_SWAP, FETCH_ADD -> ATOMIC_ETH;
      case SEND_LAST_INVALIDATE, SEND_ONLY_INVALIDATE -> IETH;
      default -> 0;
    };
  }

  private static int bytesOf(int headers) {
    int[] bytes = {
      Deth.BYTES,
      Reth.BYTES,
      AtomicEth.BYTES,
      MaskedAtomicEth.BYTES,
      Aeth.BYTES,
      AtomicAckEth.BYTES,
      ImmDt.BYTES,
      Ieth.BYTES,
      DcEth.BYTES
    };
    int sum = 0;
    for (int bit = 0; bit < bytes.length; bit++) {
      if ((headers & 1 << bit) != 0) {
        sum += bytes[bit];
      }
    }
    return sum;
  }
}
