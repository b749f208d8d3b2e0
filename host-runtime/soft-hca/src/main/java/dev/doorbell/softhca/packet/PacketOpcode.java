package dev.doorbell.softhca.packet;

import dev.doorbell.core.roce.BthOpcode;

/**
 * Tells more about opcodes of the base transport header than {@link BthOpcode}. An atomic under
 * masks has one opcode here, whatever the size of its cell: {@link Packet#cellBytes} tells that.
 */
public final class PacketOpcode {
  /** Compare and swap under masks, 4 or 8 bytes. */
  public static final int MASKED_COMPARE_SWAP = BthOpcode.MASKED_COMPARE_SWAP_8;

  /** Fetch and add with field boundaries, 4 or 8 bytes. */
  public static final int MASKED_FETCH_ADD = BthOpcode.MASKED_FETCH_ADD_8;

  private static final int OPERATION_MASK = 0x1f;

  // Sets of operations, a bit for each.
  private static final int UNFINISHED =
      1 << BthOpcode.SEND_FIRST
          | 1 << BthOpcode.SEND_MIDDLE
          | 1 << BthOpcode.WRITE_FIRST
          | 1 << BthOpcode.WRITE_MIDDLE;
  private static final int IMMEDIATES =
      1 << BthOpcode.SEND_LAST_IMM
          | 1 << BthOpcode.SEND_ONLY_IMM
          | 1 << BthOpcode.WRITE_LAST_IMM
          | 1 << BthOpcode.WRITE_ONLY_IMM;
  private static final int WITH_RESPONSE =
      1 << BthOpcode.READ_REQUEST | 1 << BthOpcode.COMPARE_SWAP | 1 << BthOpcode.FETCH_ADD;

  private PacketOpcode() {}

  /** The shift takes the operation's five bits. */
  private static boolean in(int set, int operation) {
    return (set >>> operation & 1) != 0;
  }

  /** The transport that the opcode belongs to; mlx5's own opcodes are of reliable connections. */
  public static int transport(int opcode) {
    int transport = BthOpcode.transport(opcode);
    return transport == BthOpcode.DOORBELL ? BthOpcode.RC : transport;
  }

  /** The operation without its transport, as {@link BthOpcode#SEND_FIRST} and others number it. */
  public static int operation(int opcode) {
    return opcode >= BthOpcode.DOORBELL ? opcode : opcode & OPERATION_MASK;
  }

  /** True for READ requests and atomics, which are answered with data. */
  public static boolean hasResponse(int opcode) {
    return opcode <= OPERATION_MASK
        ? in(WITH_RESPONSE, opcode)
        : opcode == MASKED_COMPARE_SWAP || opcode == MASKED_FETCH_ADD;
  }

  /** True where a message ends. */
  public static boolean isLast(int operation) {
    return !in(UNFINISHED, operation);
  }

  /** True where immediate data comes along. */
  public static boolean hasImmediate(int operation) {
    return in(IMMEDIATES, operation);
  }

  /** True where the message ends a peer's registration. */
  public static boolean invalidates(int operation) {
    return operation == BthOpcode.SEND_LAST_INVALIDATE
        || operation == BthOpcode.SEND_ONLY_INVALIDATE;
  }

  /** The opcode of response {@code number} of {@code responses} to a READ. */
  public static int readResponse(int number, int responses) {
    if (responses == 1) {
      return BthOpcode.READ_RESPONSE_ONLY;
    }
    if (number == 0) {
      return BthOpcode.READ_RESPONSE_FIRST;
    }
    return number == responses - 1 ? BthOpcode.READ_RESPONSE_LAST : BthOpcode.READ_RESPONSE_MIDDLE;
  }
}
