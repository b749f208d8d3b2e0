package dev.doorbell.softhca.packet;

/**
 * Opcodes of the base transport header (InfiniBand specification, chapter 9.2): bits 7:5 say the
 * transport, 4:0 the operation, which is numbered alike in all transports; and the
 * manufacturer-specific range for what mlx5 adds to it.
 */
public final class PacketOpcode {
  /** Reliable connections: bits 7:5. */
  public static final int RELIABLE = 0x00;

  /** Unreliable connections: bits 7:5. */
  public static final int UNRELIABLE = 0x20;

  /** Unreliable datagrams: bits 7:5. */
  public static final int DATAGRAM = 0x60;

  private static final int MANUFACTURER = 0xc0;
  private static final int TRANSPORT_MASK = 0xe0;
  private static final int OPERATION_MASK = 0x1f;

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

  /** Compare and swap under masks, 4 or 8 bytes; in the manufacturer-specific range. */
  public static final int MASKED_COMPARE_SWAP = 0xd3;

  /** Fetch and add with field boundaries, 4 or 8 bytes; in the manufacturer-specific range. */
  public static final int MASKED_FETCH_ADD = 0xd4;

  private PacketOpcode() {}

  /** The transport that the opcode belongs to; mlx5's own opcodes are of reliable connections. */
  public static int transport(int opcode) {
    int transport = opcode & TRANSPORT_MASK;
    return transport == MANUFACTURER ? RELIABLE : transport;
  }

  /** The operation without its transport, as {@link #SEND_FIRST} and the others number it. */
  public static int operation(int opcode) {
    return opcode >= MANUFACTURER ? opcode : opcode & OPERATION_MASK;
  }

  /** True for what a responder sends. */
  public static boolean isResponse(int opcode) {
    return opcode >= READ_RESPONSE_FIRST && opcode <= ATOMIC_ACKNOWLEDGE;
  }

  /** True for what a responder answers with data. */
  public static boolean isQuestion(int opcode) {
    return switch (opcode) {
      case READ_REQUEST, COMPARE_SWAP, FETCH_ADD, MASKED_COMPARE_SWAP, MASKED_FETCH_ADD -> true;
      default -> false;
    };
  }

  /**
   * Bytes of the extended headers: DETH 8, RETH 16, AtomicETH 28, masked AtomicETH 44, AETH 4,
   * AtomicAckETH 8, ImmDt 4, IETH 4.
   */
  public static int extendedHeaderBytes(int opcode) {
    int datagram = transport(opcode) == DATAGRAM ? 8 : 0;
    return datagram
        + switch (operation(opcode)) {
          case WRITE_FIRST, WRITE_ONLY, READ_REQUEST -> 16;
          case WRITE_ONLY_IMM -> 20;
          case SEND_LAST_IMM, SEND_ONLY_IMM, WRITE_LAST_IMM -> 4;
          case SEND_LAST_INVALIDATE, SEND_ONLY_INVALIDATE -> 4;
          case READ_RESPONSE_FIRST, READ_RESPONSE_LAST, READ_RESPONSE_ONLY, ACKNOWLEDGE -> 4;
          case ATOMIC_ACKNOWLEDGE -> 12;
          case COMPARE_SWAP, FETCH_ADD -> 28;
          case MASKED_COMPARE_SWAP, MASKED_FETCH_ADD -> 44;
          default -> 0;
        };
  }

  /** True where a message of WRITE or SEND begins. */
  public static boolean isFirst(int operation) {
    return switch (operation) {
      case WRITE_ONLY,
          WRITE_ONLY_IMM,
          WRITE_FIRST,
          SEND_ONLY,
          SEND_ONLY_IMM,
          SEND_ONLY_INVALIDATE,
          SEND_FIRST ->
          true;
      default -> false;
    };
  }

  /** True where a message ends. */
  public static boolean isLast(int operation) {
    return switch (operation) {
      case WRITE_FIRST, WRITE_MIDDLE, SEND_FIRST, SEND_MIDDLE -> false;
      default -> true;
    };
  }

  /** True where immediate data comes along. */
  public static boolean hasImmediate(int operation) {
    return switch (operation) {
      case WRITE_LAST_IMM, WRITE_ONLY_IMM, SEND_LAST_IMM, SEND_ONLY_IMM -> true;
      default -> false;
    };
  }

  /** True where the message ends a peer's registration. */
  public static boolean invalidates(int operation) {
    return operation == SEND_LAST_INVALIDATE || operation == SEND_ONLY_INVALIDATE;
  }

  /** The opcode of response {@code number} of {@code responses} to a READ. */
  public static int readResponse(int number, int responses) {
    if (responses == 1) {
      return READ_RESPONSE_ONLY;
    }
    if (number == 0) {
      return READ_RESPONSE_FIRST;
    }
    return number == responses - 1 ? READ_RESPONSE_LAST : READ_RESPONSE_MIDDLE;
  }
}
