package dev.doorbell.verbs.prm;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * A command or its answer: big-endian dwords, in which fields are named by byte offset and bits.
 */
public final class PrmBuffer {
  private static final int OPCODE_DWORD = 0;
  private static final int STATUS_DWORD = 0;
  private static final int SYNDROME_DWORD = 4;
  private static final int NUMBER_DWORD = 8;

  private final ByteBuffer bytes;

  /** A buffer of zeros. */
  public PrmBuffer(int size) {
    this.bytes = ByteBuffer.allocate(size).order(ByteOrder.BIG_ENDIAN);
  }

  /** A command with its opcode. */
  static PrmBuffer command(int size, int opcode) {
    PrmBuffer command = new PrmBuffer(size);
    command.put(OPCODE_DWORD, 31, 16, opcode);
    return command;
  }

  /** Its size in bytes. */
  public int size() {
    return bytes.capacity();
  }

  /** Its content, live. */
  public byte[] content() {
    return bytes.array();
  }

  /**
   * Sets bits {@code high} to {@code low} of the dword at byte {@code dword}.
   *
   * @throws IllegalArgumentException when {@code value} does not fit
   */
  public PrmBuffer put(int dword, int high, int low, int value) {
    int width = high - low + 1;
    int mask = width == Integer.SIZE ? -1 : (1 << width) - 1;
    if ((value & ~mask) != 0) {
      throw new IllegalArgumentException(
          "0x%x does not fit into bits %d to %d of dword 0x%x".formatted(value, high, low, dword));
    }
    bytes.putInt(dword, (bytes.getInt(dword) & ~(mask << low)) | value << low);
    return this;
  }

  /** Sets a flag. */
  PrmBuffer put(int dword, int bit, boolean value) {
    return put(dword, bit, bit, value ? 1 : 0);
  }

  /** Sets the 8 bytes from {@code offset} on. */
  PrmBuffer putLong(int offset, long value) {
    bytes.putLong(offset, value);
    return this;
  }

  /** Bits {@code high} to {@code low} of the dword at byte {@code dword}. */
  public int get(int dword, int high, int low) {
    int width = high - low + 1;
    int mask = width == Integer.SIZE ? -1 : (1 << width) - 1;
    return bytes.getInt(dword) >>> low & mask;
  }

  /** Of an answer: 0, or why firmware refused. */
  public int status() {
    return get(STATUS_DWORD, 31, 24);
  }

  /** Of an answer: the firmware's own number for the reason. */
  public int syndrome() {
    return get(SYNDROME_DWORD, 31, 0);
  }

  /** Of a create command's answer: the 24-bit number of what was made. */
  public int number() {
    return get(NUMBER_DWORD, 23, 0);
  }

  /** The reason of a refusal in words ({@code MLX5_CMD_STAT_*}). */
  public String statusText() {
    String reason =
        switch (status()) {
          case 0x0 -> "no error";
          case 0x1 -> "internal error";
          case 0x2 -> "bad operation: this firmware does not know the command";
          case 0x3 -> "bad parameter";
          case 0x4 -> "bad system state";
          case 0x5 -> "bad resource: a number in the command names nothing of ours";
          case 0x6 -> "resource busy";
          case 0x8 -> "limit exceeded";
          case 0x9 -> "resource in a wrong state";
          case 0xa -> "bad index";
          case 0xf -> "no resources left";
          case 0x50 -> "bad input length";
          case 0x51 -> "bad output length";
          case 0x10 -> "bad queue pair state";
          default -> "unknown status";
        };
    return "status 0x%x (%s), syndrome 0x%x".formatted(status(), reason, syndrome());
  }
}
