package dev.doorbell.softhca;

/**
 * Opcodes of the base transport header for reliable connections (InfiniBand specification, chapter
 * 9.2), and the manufacturer-specific range for what mlx5 adds to it.
 */
final class PacketOpcode {
  static final int SEND_FIRST = 0x00;
  static final int SEND_MIDDLE = 0x01;
  static final int SEND_LAST = 0x02;
  static final int SEND_LAST_IMM = 0x03;
  static final int SEND_ONLY = 0x04;
  static final int SEND_ONLY_IMM = 0x05;
  static final int WRITE_FIRST = 0x06;
  static final int WRITE_MIDDLE = 0x07;
  static final int WRITE_LAST = 0x08;
  static final int WRITE_LAST_IMM = 0x09;
  static final int WRITE_ONLY = 0x0a;
  static final int WRITE_ONLY_IMM = 0x0b;
  static final int READ_REQUEST = 0x0c;
  static final int READ_RESPONSE_FIRST = 0x0d;
  static final int READ_RESPONSE_MIDDLE = 0x0e;
  static final int READ_RESPONSE_LAST = 0x0f;
  static final int READ_RESPONSE_ONLY = 0x10;
  static final int ACKNOWLEDGE = 0x11;
  static final int ATOMIC_ACKNOWLEDGE = 0x12;
  static final int COMPARE_SWAP = 0x13;
  static final int FETCH_ADD = 0x14;

  /** Compare and swap under masks, 4 or 8 bytes; in the manufacturer-specific range. */
  static final int MASKED_COMPARE_SWAP = 0xd3;

  /** Fetch and add with field boundaries, 4 or 8 bytes; in the manufacturer-specific range. */
  static final int MASKED_FETCH_ADD = 0xd4;

  private PacketOpcode() {}

  /** True for what a responder sends. */
  static boolean isResponse(int opcode) {
    return opcode >= READ_RESPONSE_FIRST && opcode <= ATOMIC_ACKNOWLEDGE;
  }

  /**
   * Bytes of the extended headers: RETH 16, AtomicETH 28, masked AtomicETH 44, AETH 4, AtomicAckETH
   * 8, ImmDt 4.
   */
  static int extendedHeaderBytes(int opcode) {
    return switch (opcode) {
      case WRITE_FIRST, WRITE_ONLY, READ_REQUEST -> 16;
      case WRITE_ONLY_IMM -> 20;
      case SEND_LAST_IMM, SEND_ONLY_IMM, WRITE_LAST_IMM -> 4;
      case READ_RESPONSE_FIRST, READ_RESPONSE_LAST, READ_RESPONSE_ONLY, ACKNOWLEDGE -> 4;
      case ATOMIC_ACKNOWLEDGE -> 12;
      case COMPARE_SWAP, FETCH_ADD -> 28;
      case MASKED_COMPARE_SWAP, MASKED_FETCH_ADD -> 44;
      default -> 0;
    };
  }

  /** True where a message of WRITE or SEND begins. */
  static boolean isFirst(int opcode) {
    return switch (opcode) {
      case WRITE_ONLY, WRITE_ONLY_IMM, WRITE_FIRST, SEND_ONLY, SEND_ONLY_IMM, SEND_FIRST -> true;
      default -> false;
    };
  }

  /** True where a message ends. */
  static boolean isLast(int opcode) {
    return switch (opcode) {
      case WRITE_FIRST, WRITE_MIDDLE, SEND_FIRST, SEND_MIDDLE -> false;
      default -> true;
    };
  }

  /** True where immediate data comes along. */
  static boolean hasImmediate(int opcode) {
    return switch (opcode) {
      case WRITE_LAST_IMM, WRITE_ONLY_IMM, SEND_LAST_IMM, SEND_ONLY_IMM -> true;
      default -> false;
    };
  }

  /** The opcode of response {@code number} of {@code responses} to a READ. */
  static int readResponse(int number, int responses) {
    if (responses == 1) {
      return READ_RESPONSE_ONLY;
    }
    if (number == 0) {
      return READ_RESPONSE_FIRST;
    }
    return number == responses - 1 ? READ_RESPONSE_LAST : READ_RESPONSE_MIDDLE;
  }
}
