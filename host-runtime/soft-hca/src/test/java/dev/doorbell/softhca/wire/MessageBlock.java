package dev.doorbell.softhca.wire;

import dev.doorbell.core.memory.BigEndian;
import dev.doorbell.core.memory.RawMemory;
import dev.doorbell.core.roce.Gid;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * The headers of many datagrams, for one call of {@code sendmmsg} or {@code recvmmsg}.
 *
 * <pre>
 *  mmsghdr, 64 bytes:  name 0 | name length 8 | iovec 16 | iovecs 24 | control 32 | length 40
 *                      | flags 48 | bytes transferred 56
 *  name, 28 bytes:     family 0 | port 2 | IPv4 address 4, or flow 4, IPv6 address 8, scope 24
 *  iovec, 16 bytes:    base 0 | length 8
 *  control message:    length 0 | level 8 | type 12 | data 16
 * </pre>
 */
final class MessageBlock {
  static final int NAME_BYTES = 32;
  static final int NAME_IPV6_BYTES = 28;

  /** Traffic class, hop limit, drop count and segment size, 24 bytes each. */
  static final int CONTROL_BYTES = 96;

  static final int CONTROL_DATA = 16;
  static final int CONTROL_SPACE = 24;

  private static final int MESSAGE = 64;
  private static final int MESSAGE_NAME_BYTES = 8;
  private static final int MESSAGE_IOVEC = 16;
  private static final int MESSAGE_IOVECS = 24;
  private static final int MESSAGE_CONTROL = 32;
  private static final int MESSAGE_CONTROL_BYTES = 40;
  private static final int MESSAGE_FLAGS = 48;
  private static final int MESSAGE_BYTES = 56;
  private static final int NAME_IPV4_BYTES = 16;
  private static final int IOVEC = 16;
  private static final int MSG_TRUNC = 0x20;

  private final boolean ipv6;

  @SuppressWarnings("UnusedVariable") // keeps the memory reachable
  private final MemorySegment memory;

  private final long messages;
  private final long names;
  private final long iovecs;
  private final long controls;

  /**
   * @param count of messages
   * @param pieces that they have together at most
   */
  MessageBlock(int count, int pieces, boolean ipv6) {
    this.ipv6 = ipv6;
    long bytes = (long) count * (MESSAGE + NAME_BYTES + CONTROL_BYTES) + (long) pieces * IOVEC;
    memory = Arena.ofAuto().allocate(bytes, MESSAGE);
    messages = memory.address();
    names = messages + (long) count * MESSAGE;
    iovecs = names + (long) count * NAME_BYTES;
    controls = iovecs + (long) pieces * IOVEC;
    for (int i = 0; i < count; i++) {
      RawMemory.putLong(message(i), name(i));
      RawMemory.putLong(message(i) + MESSAGE_NAME_BYTES, nameBytes(ipv6));
    }
  }

  static int nameBytes(boolean ipv6) {
    return ipv6 ? NAME_IPV6_BYTES : NAME_IPV4_BYTES;
  }

  /** Writes a socket address of 28 bytes at most. */
  static void writeName(long at, Gid address, int port) {
    boolean ipv6 = !address.isIpv4();
    for (int i = 0; i < NAME_BYTES; i += Long.BYTES) {
      RawMemory.putLong(at + i, 0);
    }
    RawMemory.putShort(at, (short) (ipv6 ? LinuxSockets.AF_INET6 : LinuxSockets.AF_INET));
    BigEndian.putShort(at + Short.BYTES, (short) port);
    if (ipv6) {
      address.write(at + 8);
    } else {
      BigEndian.putInt(at + Integer.BYTES, address.ipv4());
    }
  }

  /** Native address of message {@code i} and those behind it. */
  long message(int i) {
    return messages + (long) i * MESSAGE;
  }

  /** Native address of the name of message {@code i}. */
  long name(int i) {
    return names + (long) i * NAME_BYTES;
  }

  /** Native address of the IPv4 or IPv6 address in the name of message {@code i}. */
  long nameAddress(int i) {
    return name(i) + (ipv6 ? 8 : Integer.BYTES);
  }

  int port(int i) {
    return BigEndian.getShort(name(i) + Short.BYTES) & 0xffff;
  }

  private long iovec(int piece) {
    return iovecs + (long) piece * IOVEC;
  }

  void piece(int piece, long address, long bytes) {
    RawMemory.putLong(iovec(piece), address);
    RawMemory.putLong(iovec(piece) + Long.BYTES, bytes);
  }

  int pieceBytes(int piece) {
    return (int) RawMemory.getLong(iovec(piece) + Long.BYTES);
  }

  /** Message {@code i} has {@code count} pieces from {@code first} on. */
  void pieces(int i, int first, int count) {
    RawMemory.putLong(message(i) + MESSAGE_IOVEC, iovec(first));
    RawMemory.putLong(message(i) + MESSAGE_IOVECS, count);
  }

  /** Native address of the control messages of message {@code i}. */
  long control(int i) {
    return controls + (long) i * CONTROL_BYTES;
  }

  /** Message {@code i} has {@code bytes} of control messages, or room for them. */
  void controlBytes(int i, long bytes) {
    RawMemory.putLong(message(i) + MESSAGE_CONTROL, bytes == 0 ? 0 : control(i));
    RawMemory.putLong(message(i) + MESSAGE_CONTROL_BYTES, bytes);
  }

  /** End of the control messages of message {@code i}. */
  long controlEnd(int i) {
    return control(i) + RawMemory.getLong(message(i) + MESSAGE_CONTROL_BYTES);
  }

  /** Makes message {@code i} ready to be received to. */
  void prepare(int i) {
    controlBytes(i, CONTROL_BYTES);
    RawMemory.putInt(message(i) + MESSAGE_NAME_BYTES, NAME_IPV6_BYTES);
  }

  /** Bytes that message {@code i} brought, or -1 when it was longer than its room. */
  int bytes(int i) {
    boolean cut = (RawMemory.getInt(message(i) + MESSAGE_FLAGS) & MSG_TRUNC) != 0;
    return cut ? -1 : RawMemory.getInt(message(i) + MESSAGE_BYTES);
  }
}
