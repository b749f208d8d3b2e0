package dev.doorbell.core.queue.generated;

import javax.annotation.processing.Generated;

/**
 * Opcodes and flags of command_queue.cuh, and the producers' structure.
 *
 * <p>Written by FormatsTest from kernels/include/doorbell/command_queue.cuh.
 */
@Generated("FormatsTest")
public class CommandConstants {
  public static final int OP_PUT = 0x0;

  public static final int OP_PUT_IMM = 0x1;

  public static final int OP_GET = 0x2;

  public static final int OP_PUT_INLINE = 0x3;

  public static final int OP_FETCH_ADD = 0x4;

  public static final int OP_COMPARE_SWAP = 0x5;

  /** {@code DOORBELL_OP_PUT_SIGNAL}: put, then fetch-add of operand on an 8-byte word behind it */
  public static final int OP_PUT_SIGNAL = 0x6;

  public static final int OP_NOP = 0x40;

  /** {@code DOORBELL_COMMAND_FLUSH}: Flags of a command. */
  public static final int OP_FLUSH = 0x41;

  /** Names one of {@code OP_*}. */
  public static String opcodeName(int code) {
    return switch (code) {
      case OP_PUT -> "put";
      case OP_PUT_IMM -> "put_imm";
      case OP_GET -> "get";
      case OP_PUT_INLINE -> "put_inline";
      case OP_FETCH_ADD -> "fetch_add";
      case OP_COMPARE_SWAP -> "compare_swap";
      case OP_PUT_SIGNAL -> "put_signal";
      case OP_NOP -> "nop";
      case OP_FLUSH -> "flush";
      default -> "opcode 0x%02x".formatted(code);
    };
  }

  /** {@code DOORBELL_COMMAND_FENCE}: wait for earlier READs and atomics of the queue pair */
  public static final int FLAG_FENCE = 0x1;

  /**
   * {@code DOORBELL_COMMAND_INLINE_BYTES}: Bit of the `finished` counter: a command failed. The
   * error records of the queue pairs name it; the
   */
  public static final int INLINE_BYTES = 0x18;

  /**
   * {@code DOORBELL_COMMANDS_FAILED}: What doorbell_command_queue.head points to. GPU memory,
   * zeroed by the host; kept over launches.
   */
  public static final long FINISHED_FAILED = 0x8000000000000000L;

  public static final int PRODUCER_BYTES = 256;

  public static final int PRODUCER_HEAD = 0;

  public static final int PRODUCER_CONSUMED_SEEN = 128;

  public static final int PRODUCER_POISONED = 136;

  protected CommandConstants() {}
}
