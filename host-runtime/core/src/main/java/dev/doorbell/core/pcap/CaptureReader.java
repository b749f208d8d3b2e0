package dev.doorbell.core.pcap;

import dev.doorbell.core.memory.BigEndian;
import java.io.IOException;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Reads pcapng and classic pcap, in either byte order and any resolution of time.
 *
 * <p>Blocks of unknown types are skipped, as the format demands. Lengths are checked before they
 * are used; what is wrong is a {@link CaptureException} that says where.
 */
public final class CaptureReader {
  private static final int PCAP_MICROSECONDS = 0xa1b2c3d4;
  private static final int PCAP_NANOSECONDS = 0xa1b23c4d;

  private static final int PCAP_HEADER = 24;
  private static final int PCAP_RECORD = 16;
  private static final int SECTION_BODY = 16;
  private static final int INTERFACE_BODY = 8;
  private static final int PACKET_BODY = 20;
  private static final long BILLION = 1_000_000_000;

  private final ByteBuffer file;
  private final List<Interface> interfaces = new ArrayList<>();
  private final List<CapturedFrame> frames = new ArrayList<>();
  private String comment = "";
  private String application = "";

  /**
   * An interface of the section that is being read.
   *
   * @param ticks of its clock in a second
   * @param offset seconds to add
   */
  private record Interface(int linkType, int snapLength, BigInteger ticks, long offset) {}

  /** Receives an option by its place in the file. */
  @FunctionalInterface
  private interface OptionVisitor {
    void option(int code, int at, int length) throws CaptureException;
  }

  private CaptureReader(byte[] bytes) {
    this.file = ByteBuffer.wrap(bytes);
  }

  /** True when {@code bytes} start as one of the two formats does. */
  public static boolean isCapture(byte[] bytes) {
    if (bytes.length < Integer.BYTES) {
      return false;
    }
    int magic = ByteBuffer.wrap(bytes).getInt();
    return magic == Blocks.SECTION_HEADER || isPcap(magic) || isPcap(BigEndian.swap(magic));
  }

  private static boolean isPcap(int magic) {
    return magic == PCAP_MICROSECONDS || magic == PCAP_NANOSECONDS;
  }

  /**
   * Reads a file.
   *
   * @throws CaptureException when it is no capture
   * @throws IOException when it cannot be read
   */
  public static Capture read(Path path) throws CaptureException, IOException {
    return read(Files.readAllBytes(path));
  }

  /**
   * Reads a capture.
   *
   * @throws CaptureException when {@code bytes} are none
   */
  public static Capture read(byte[] bytes) throws CaptureException {
    if (!isCapture(bytes)) {
      throw new CaptureException("neither pcapng nor pcap: the first bytes are of neither");
    }
    CaptureReader reader = new CaptureReader(bytes);
    if (reader.file.getInt(0) == Blocks.SECTION_HEADER) {
      reader.readBlocks();
    } else {
      reader.readRecords();
    }
    return new Capture(reader.comment, reader.application, reader.frames);
  }

  // Classic pcap.

  private void readRecords() throws CaptureException {
    if (!isPcap(file.getInt(0))) {
      file.order(ByteOrder.LITTLE_ENDIAN);
    }
    require(0, PCAP_HEADER, "the file header");
    boolean nanoseconds = file.getInt(0) == PCAP_NANOSECONDS;
    int linkType = file.getInt(20) & 0xffff;
    int at = PCAP_HEADER;
    while (at < file.limit()) {
      require(at, PCAP_RECORD, "a record's header");
      long seconds = file.getInt(at) & 0xffff_ffffL;
      long fraction = file.getInt(at + 4) & 0xffff_ffffL;
      int captured = file.getInt(at + 8);
      int original = file.getInt(at + 12);
      at += PCAP_RECORD;
      add(
          seconds * BILLION + (nanoseconds ? fraction : fraction * 1_000),
          linkType,
          Direction.UNKNOWN,
          at,
          captured,
          original,
          "");
      at += captured;
    }
  }

  // pcapng.

  private void readBlocks() throws CaptureException {
    int at = 0;
    while (at < file.limit()) {
      require(at, Blocks.FRAME_BYTES, "a block");
      int type = file.getInt(at);
      if (type == Blocks.SECTION_HEADER) {
        setByteOrder(at);
      }
      type = file.getInt(at);
      int length = file.getInt(at + 4);
      if (length < Blocks.FRAME_BYTES || (length & 3) != 0) {
        throw at(at, "a block of %d bytes".formatted(length));
      }
      require(at, length, "a block");
      if (file.getInt(at + length - 4) != length) {
        throw at(at, "a block whose two lengths differ");
      }
      readBlock(type, at + 8, length - Blocks.FRAME_BYTES);
      at += length;
    }
  }

  private void setByteOrder(int at) throws CaptureException {
    int magic = file.order(ByteOrder.BIG_ENDIAN).getInt(at + 8);
    if (magic == BigEndian.swap(Blocks.BYTE_ORDER_MAGIC)) {
      file.order(ByteOrder.LITTLE_ENDIAN);
    } else if (magic != Blocks.BYTE_ORDER_MAGIC) {
      throw at(at, "a section header without a byte-order magic");
    }
  }

  private void readBlock(int type, int body, int length) throws CaptureException {
    switch (type) {
      case Blocks.SECTION_HEADER -> {
        requireBody(body, length, SECTION_BODY);
        interfaces.clear();
        options(
            body + SECTION_BODY,
            length - SECTION_BODY,
            (code, at, bytes) -> {
              if (code == Blocks.OPTION_COMMENT) {
                comment = text(at, bytes);
              } else if (code == Blocks.OPTION_APPLICATION) {
                application = text(at, bytes);
              }
            });
      }
      case Blocks.INTERFACE_DESCRIPTION -> addInterface(body, length);
      case Blocks.ENHANCED_PACKET -> addPacket(body, length);
      case Blocks.SIMPLE_PACKET -> addSimplePacket(body, length);
      default -> {
        // Passed over, as the format demands.
      }
    }
  }

  private void addInterface(int body, int length) throws CaptureException {
    requireBody(body, length, INTERFACE_BODY);
    long[] offset = {0};
    BigInteger[] ticks = {BigInteger.valueOf(1_000_000)};
    options(
        body + INTERFACE_BODY,
        length - INTERFACE_BODY,
        (code, at, bytes) -> {
          if (code == Blocks.OPTION_TIME_RESOLUTION && bytes >= 1) {
            int exponent = file.get(at);
            ticks[0] =
                exponent < 0 ? BigInteger.TWO.pow(exponent & 0x7f) : BigInteger.TEN.pow(exponent);
          } else if (code == Blocks.OPTION_TIME_OFFSET && bytes >= Long.BYTES) {
            offset[0] = file.getLong(at);
          }
        });
    interfaces.add(
        new Interface(file.getShort(body) & 0xffff, file.getInt(body + 4), ticks[0], offset[0]));
  }

  private void addPacket(int body, int length) throws CaptureException {
    requireBody(body, length, PACKET_BODY);
    Interface source = interfaceAt(body, file.getInt(body));
    BigInteger time =
        BigInteger.valueOf(file.getInt(body + 4) & 0xffff_ffffL)
            .shiftLeft(Integer.SIZE)
            .add(BigInteger.valueOf(file.getInt(body + 8) & 0xffff_ffffL));
    int captured = file.getInt(body + 12);
    if (captured < 0 || captured > length - PACKET_BODY) {
      throw at(body, "a packet of %d bytes in a smaller block".formatted(captured));
    }
    Direction[] direction = {Direction.UNKNOWN};
    String[] remark = {""};
    int afterData = PACKET_BODY + Math.min(Blocks.padded(captured), length - PACKET_BODY);
    options(
        body + afterData,
        length - afterData,
        (code, at, bytes) -> {
          if (code == Blocks.OPTION_FLAGS && bytes >= Integer.BYTES) {
            direction[0] =
                switch (file.getInt(at) & 3) {
                  case 1 -> Direction.INBOUND;
                  case 2 -> Direction.OUTBOUND;
                  default -> Direction.UNKNOWN;
                };
          } else if (code == Blocks.OPTION_COMMENT) {
            remark[0] = text(at, bytes);
          }
        });
    add(
        nanos(source, time),
        source.linkType,
        direction[0],
        body + PACKET_BODY,
        captured,
        file.getInt(body + 16),
        remark[0]);
  }

  private static long nanos(Interface source, BigInteger time) {
    return time.multiply(BigInteger.valueOf(BILLION)).divide(source.ticks).longValue()
        + source.offset * BILLION;
  }

  private void addSimplePacket(int body, int length) throws CaptureException {
    requireBody(body, length, Integer.BYTES);
    Interface source = interfaceAt(body, 0);
    int original = file.getInt(body);
    int captured = Math.min(original, length - Integer.BYTES);
    if (source.snapLength > 0) {
      captured = Math.min(captured, source.snapLength);
    }
    add(0, source.linkType, Direction.UNKNOWN, body + Integer.BYTES, captured, original, "");
  }

  private Interface interfaceAt(int at, int number) throws CaptureException {
    if (number < 0 || number >= interfaces.size()) {
      throw at(at, "a packet of interface %d, which is not described".formatted(number));
    }
    return interfaces.get(number);
  }

  private void add(
      long nanos,
      int linkType,
      Direction direction,
      int at,
      int captured,
      int original,
      String remark)
      throws CaptureException {
    if (captured < 0) {
      throw at(at, "a packet of %d bytes".formatted(captured));
    }
    require(at, captured, "a packet");
    byte[] bytes = new byte[captured];
    file.get(at, bytes);
    frames.add(
        new CapturedFrame(frames.size() + 1, nanos, linkType, direction, bytes, original, remark));
  }

  private void options(int from, int length, OptionVisitor visitor) throws CaptureException {
    int at = from;
    int end = from + length;
    while (at + Integer.BYTES <= end) {
      int code = file.getShort(at) & 0xffff;
      int bytes = file.getShort(at + Short.BYTES) & 0xffff;
      at += Integer.BYTES;
      if (code == Blocks.OPTION_END) {
        return;
      }
      if (at + bytes > end) {
        throw at(at, "an option of %d bytes that leaves its block".formatted(bytes));
      }
      visitor.option(code, at, bytes);
      at += Blocks.padded(bytes);
    }
  }

  private String text(int at, int length) {
    return new String(file.array(), at, length, StandardCharsets.UTF_8);
  }

  private void requireBody(int at, int length, int needed) throws CaptureException {
    if (length < needed) {
      throw at(at, "a block's body of %d bytes where %d are needed".formatted(length, needed));
    }
  }

  private void require(int at, int bytes, String what) throws CaptureException {
    if (at > file.limit() - bytes) {
      throw at(at, "the file ends inside " + what);
    }
  }

  private static CaptureException at(int at, String what) {
    return new CaptureException("at byte %d: %s".formatted(at, what));
  }
}
