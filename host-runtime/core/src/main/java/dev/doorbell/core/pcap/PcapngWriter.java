package dev.doorbell.core.pcap;

import dev.doorbell.core.memory.RawMemory;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;

/**
 * Writes a pcapng file of one section, with timestamps in nanoseconds.
 *
 * <p>{@link #frame} allocates nothing. Not thread-safe. What a process that is killed leaves is
 * readable up to the last {@link #flush}.
 */
public final class PcapngWriter implements AutoCloseable {
  private static final int BUFFER_BYTES = 1 << 20;
  private static final int NANOSECONDS = 9;

  /** Interface, time, two lengths. */
  private static final int PACKET_BYTES = 20;

  /** The flags option and the end of options. */
  private static final int PACKET_OPTIONS = 12;

  private final FileChannel file;
  private final ByteBuffer buffer =
      ByteBuffer.allocateDirect(BUFFER_BYTES).order(ByteOrder.LITTLE_ENDIAN);
  private int interfaces;

  private PcapngWriter(FileChannel file) {
    this.file = file;
  }

  /**
   * Makes a file, over one of that name.
   *
   * @param application what writes it
   * @param comment shown by Wireshark as the capture's comment
   * @throws IOException when it cannot be made
   */
  public static PcapngWriter create(Path path, String application, String comment)
      throws IOException {
    PcapngWriter writer =
        new PcapngWriter(
            FileChannel.open(
                path,
                StandardOpenOption.CREATE,
                StandardOpenOption.TRUNCATE_EXISTING,
                StandardOpenOption.WRITE));
    writer.sectionHeader(application, comment);
    writer.flush();
    return writer;
  }

  private void sectionHeader(String application, String comment) {
    List<Option> options = new ArrayList<>();
    if (!comment.isEmpty()) {
      options.add(Option.text(Blocks.OPTION_COMMENT, comment));
    }
    options.add(Option.text(Blocks.OPTION_APPLICATION, application));
    int length = Blocks.FRAME_BYTES + 16 + Option.bytes(options);
    buffer.putInt(Blocks.SECTION_HEADER).putInt(length).putInt(Blocks.BYTE_ORDER_MAGIC);
    buffer.putShort((short) 1).putShort((short) 0).putLong(-1);
    Option.put(buffer, options);
    buffer.putInt(length);
  }

  /**
   * Adds an interface.
   *
   * @param description what it is, and what its clock counts
   * @return its number, for {@link #frame}
   */
  public int addInterface(String name, String description, int linkType) {
    List<Option> options =
        List.of(
            Option.text(Blocks.OPTION_NAME, name),
            Option.text(Blocks.OPTION_DESCRIPTION, description),
            new Option(Blocks.OPTION_TIME_RESOLUTION, new byte[] {NANOSECONDS}));
    int length = Blocks.FRAME_BYTES + 8 + Option.bytes(options);
    ensure(length);
    buffer.putInt(Blocks.INTERFACE_DESCRIPTION).putInt(length);
    buffer.putShort((short) linkType).putShort((short) 0).putInt(0);
    Option.put(buffer, options);
    buffer.putInt(length);
    return interfaces++;
  }

  /** Adds a frame as above, with a comment that Wireshark shows, unless it is empty. */
  public void frame(
      int interfaceNumber,
      long nanos,
      Direction direction,
      long address,
      int bytes,
      String comment) {
    int padded = Blocks.padded(bytes);
    Option remark = comment.isEmpty() ? null : Option.text(Blocks.OPTION_COMMENT, comment);
    int more = remark == null ? 0 : Integer.BYTES + Blocks.padded(remark.value.length);
    int length = Blocks.FRAME_BYTES + PACKET_BYTES + padded + PACKET_OPTIONS + more;
    ensure(length);
    buffer.putInt(Blocks.ENHANCED_PACKET).putInt(length).putInt(interfaceNumber);
    buffer.putInt((int) (nanos >>> 32)).putInt((int) nanos).putInt(bytes).putInt(bytes);
    int at = buffer.position();
    for (int i = 0; i < bytes - 7; i += Long.BYTES) {
      buffer.putLong(at + i, RawMemory.getLong(address + i));
    }
    for (int i = bytes & ~7; i < bytes; i++) {
      buffer.put(at + i, RawMemory.getByte(address + i));
    }
    for (int i = bytes; i < padded; i++) {
      buffer.put(at + i, (byte) 0);
    }
    buffer.position(at + padded);
    buffer.putShort((short) Blocks.OPTION_FLAGS).putShort((short) Integer.BYTES);
    buffer.putInt(direction.bits());
    if (remark != null) {
      remark.put(buffer);
    }
    buffer.putInt(Blocks.OPTION_END).putInt(length);
  }

  private void ensure(int bytes) {
    if (buffer.remaining() < bytes) {
      flush();
    }
  }

  /**
   * Writes what is buffered to the file.
   *
   * @throws UncheckedIOException when it cannot be written
   */
  public void flush() {
    buffer.flip();
    try {
      while (buffer.hasRemaining()) {
        file.write(buffer);
      }
    } catch (IOException e) {
      throw new UncheckedIOException("the capture cannot be written: " + e.getMessage(), e);
    } finally {
      buffer.clear();
    }
  }

  @Override
  public void close() {
    try (file) {
      flush();
    } catch (IOException e) {
      throw new UncheckedIOException("the capture cannot be closed: " + e.getMessage(), e);
    }
  }

  @SuppressWarnings("ArrayRecordComponent")
  private record Option(int code, byte[] value) {
    static Option text(int code, String text) {
      return new Option(code, text.getBytes(StandardCharsets.UTF_8));
    }

    static int bytes(List<Option> options) {
      int sum = Integer.BYTES;
      for (Option option : options) {
        sum += Integer.BYTES + Blocks.padded(option.value.length);
      }
      return sum;
    }

    static void put(ByteBuffer buffer, List<Option> options) {
      for (Option option : options) {
        option.put(buffer);
      }
      buffer.putInt(Blocks.OPTION_END);
    }

    void put(ByteBuffer buffer) {
      buffer.putShort((short) code).putShort((short) value.length).put(value);
      buffer.put(new byte[Blocks.padded(value.length) - value.length]);
    }
  }
}
