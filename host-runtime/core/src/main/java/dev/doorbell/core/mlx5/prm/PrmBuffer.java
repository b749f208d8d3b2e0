package dev.doorbell.core.mlx5.prm;

import dev.doorbell.core.mlx5.prm.generated.CommandHeader;
import java.nio.ByteBuffer;

/**
 * A command or its answer. Both may be shorter than their layout: fields beyond the end read as 0
 * and are not written.
 */
public final class PrmBuffer {
  /** Bytes of the header, which is the whole answer of most commands. */
  public static final int HEADER_BYTES = 16;

  private final ByteBuffer bytes;

  /** A buffer of zeros. */
  public PrmBuffer(int size) {
    this(new byte[size]);
  }

  /** A buffer over {@code content}, which is not copied. */
  public PrmBuffer(byte[] content) {
    this.bytes = ByteBuffer.wrap(content);
  }

  static PrmBuffer command(int size, int opcode) {
    return new PrmBuffer(size).put(CommandHeader.OPCODE, opcode);
  }

  public int size() {
    return bytes.capacity();
  }

  /** Its content, live. */
  public byte[] content() {
    return bytes.array();
  }

  private boolean has(int offset, int length) {
    return offset + length <= bytes.capacity();
  }

  /**
   * Sets a field.
   *
   * @throws IllegalArgumentException when {@code value} does not fit
   */
  public PrmBuffer put(PrmField field, int value) {
    if ((value & ~field.mask()) != 0) {
      throw new IllegalArgumentException(
          "0x%x does not fit into bits %d to %d of dword 0x%x"
              .formatted(value, field.high(), field.low(), field.dword()));
    }
    return putTruncated(field, value);
  }

  /** Sets a flag. */
  public PrmBuffer put(PrmField field, boolean value) {
    return put(field, value ? 1 : 0);
  }

  /** Sets a field to the low bits of {@code value}. */
  public PrmBuffer putTruncated(PrmField field, int value) {
    if (has(field.dword(), Integer.BYTES)) {
      int others = bytes.getInt(field.dword()) & ~(field.mask() << field.low());
      bytes.putInt(field.dword(), others | (value & field.mask()) << field.low());
    }
    return this;
  }

  /** Sets the 8 bytes from {@code offset} on. */
  public PrmBuffer putLong(int offset, long value) {
    if (has(offset, Long.BYTES)) {
      bytes.putLong(offset, value);
    }
    return this;
  }

  /** The value of a field, without sign. */
  public int get(PrmField field) {
    return has(field.dword(), Integer.BYTES)
        ? bytes.getInt(field.dword()) >>> field.low() & field.mask()
        : 0;
  }

  public boolean isSet(PrmField field) {
    return get(field) != 0;
  }

  /** The 8 bytes from {@code offset} on. */
  public long getLong(int offset) {
    return has(offset, Long.BYTES) ? bytes.getLong(offset) : 0;
  }

  /** Returns the status of an answer: 0, or why firmware refused. */
  public int status() {
    return get(CommandHeader.STATUS);
  }

  /** Returns the firmware's own number for the reason of a refusal. */
  public int syndrome() {
    return get(CommandHeader.SYNDROME);
  }

  /** Returns the 24-bit number of the object that a create command made. */
  public int number() {
    return get(CommandHeader.NUMBER);
  }

  /** The reason of a refusal in words ({@code MLX5_CMD_STAT_*}). */
  public String statusText() {
    String reason = CommandHeader.statusName(status());
    return "status 0x%x (%s), syndrome 0x%x".formatted(status(), reason, syndrome());
  }
}
