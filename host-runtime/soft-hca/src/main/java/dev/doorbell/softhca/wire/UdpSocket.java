package dev.doorbell.softhca.wire;

import dev.doorbell.core.hca.HcaException;
import dev.doorbell.core.memory.BigEndian;
import dev.doorbell.core.memory.RawMemory;
import dev.doorbell.core.roce.Gid;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * A UDP socket that takes and gives many datagrams a call and allocates nothing on the way.
 *
 * <p>Datagrams are never fragmented, so that IPv4 sends them with DF and identification 0, which
 * the ICRC covers and the receiver cannot see. Not thread-safe.
 *
 * <pre>
 *  mmsghdr, 64 bytes:  name 0 | name length 8 | iovec 16 | iovecs 24 | control 32 | length 40
 *                      | flags 48 | bytes transferred 56
 *  name, 28 bytes:     family 0 | port 2 | IPv4 address 4, or flow 4, IPv6 address 8, scope 24
 *  iovec, 16 bytes:    base 0 | length 8
 *  control message:    length 0 | level 8 | type 12 | data 16
 * </pre>
 */
final class UdpSocket implements AutoCloseable {
  /** Datagrams of one call. */
  static final int BATCH = 64;

  private static final int MESSAGE = 64;
  private static final int MESSAGE_NAME_BYTES = 8;
  private static final int MESSAGE_IOVEC = 16;
  private static final int MESSAGE_IOVECS = 24;
  private static final int MESSAGE_CONTROL = 32;
  private static final int MESSAGE_CONTROL_BYTES = 40;
  private static final int MESSAGE_FLAGS = 48;
  private static final int MESSAGE_BYTES = 56;
  private static final int NAME = 32;
  private static final int NAME_IPV4_BYTES = 16;
  private static final int NAME_IPV6_BYTES = 28;
  private static final int IOVEC = 16;

  /** Traffic class, hop limit and drop count, 24 bytes each. */
  private static final int CONTROL = 96;

  private static final int CONTROL_DATA = 16;
  private static final int CONTROL_INT = CONTROL_DATA + Integer.BYTES;
  private static final int CONTROL_INT_SPACE = 24;
  private static final int MSG_TRUNC = 0x20;
  private static final int BUFFER_BYTES = 32 << 20;

  /** Ethernet, IP and UDP headers with their alignment, and struct skb_shared_info. */
  private static final int BUFFER_ENDS = 400;

  /** struct sk_buff. */
  private static final int BUFFER_RECORD = 256;

  private final LinuxSockets libc = new LinuxSockets();
  private final int descriptor;
  private final boolean ipv6;
  private final Gid local;
  private final int port;
  private final int receiveBuffer;
  private boolean closed;

  private final MemorySegment memory =
      Arena.ofAuto().allocate(2L * BATCH * (MESSAGE + NAME + IOVEC + CONTROL) + 64, 64);

  private final long sends = memory.address();
  private final long receives = sends + (long) BATCH * (MESSAGE + NAME + IOVEC + CONTROL);
  private final long word = receives + (long) BATCH * (MESSAGE + NAME + IOVEC + CONTROL);
  private int queued;
  private int sent;

  // What arrived with the datagram that was looked at last.
  private int trafficClass;
  private int hopLimit;

  private long kernelDrops;
  private int lastDropCount;
  private long refused;
  private int lastError;

  /**
   * Opens a socket.
   *
   * @param local address to bind; its family is the socket's
   * @param port port to bind, 0 for any
   * @param hopLimit of what is sent, 1 to 255
   * @throws HcaException when the system refuses
   */
  UdpSocket(Gid local, int port, int hopLimit) {
    this.local = local;
    this.ipv6 = !local.isIpv4();
    descriptor = libc.socket(ipv6 ? LinuxSockets.AF_INET6 : LinuxSockets.AF_INET);
    require(descriptor, "open a UDP socket");
    try {
      setUp(hopLimit);
      writeName(word, local, port);
      require(
          libc.bind(descriptor, word, nameBytes()),
          "bind UDP %s port %d (another process may have it)".formatted(local, port));
      this.port = boundPort();
      this.receiveBuffer = receiveBufferNow();
    } catch (RuntimeException e) {
      libc.close(descriptor);
      throw e;
    }
    link(sends);
    link(receives);
    for (int i = 0; i < BATCH; i++) {
      RawMemory.putLong(message(receives, i) + MESSAGE_CONTROL, control(receives, i));
    }
  }

  private void setUp(int hopLimit) {
    if (ipv6) {
      set(LinuxSockets.IPPROTO_IPV6, LinuxSockets.IPV6_V6ONLY, 1);
      set(LinuxSockets.IPPROTO_IPV6, LinuxSockets.IPV6_MTU_DISCOVER, LinuxSockets.PMTUDISC_DO);
      set(LinuxSockets.IPPROTO_IPV6, LinuxSockets.IPV6_UNICAST_HOPS, hopLimit);
      set(LinuxSockets.IPPROTO_IPV6, LinuxSockets.IPV6_RECVTCLASS, 1);
      set(LinuxSockets.IPPROTO_IPV6, LinuxSockets.IPV6_RECVHOPLIMIT, 1);
    } else {
      set(LinuxSockets.IPPROTO_IP, LinuxSockets.IP_MTU_DISCOVER, LinuxSockets.PMTUDISC_DO);
      set(LinuxSockets.IPPROTO_IP, LinuxSockets.IP_TTL, hopLimit);
      set(LinuxSockets.IPPROTO_IP, LinuxSockets.IP_RECVTOS, 1);
      set(LinuxSockets.IPPROTO_IP, LinuxSockets.IP_RECVTTL, 1);
    }
    set(LinuxSockets.SOL_SOCKET, LinuxSockets.SO_RXQ_OVFL, 1);
    // Beyond the system's limit where the process may do that, else up to it.
    if (!trySet(LinuxSockets.SO_RCVBUFFORCE, BUFFER_BYTES)) {
      trySet(LinuxSockets.SO_RCVBUF, BUFFER_BYTES);
    }
    if (!trySet(LinuxSockets.SO_SNDBUFFORCE, BUFFER_BYTES)) {
      trySet(LinuxSockets.SO_SNDBUF, BUFFER_BYTES);
    }
  }

  private boolean trySet(int option, int value) {
    RawMemory.putInt(word, value);
    return libc.setsockopt(descriptor, LinuxSockets.SOL_SOCKET, option, word) >= 0;
  }

  private void set(int level, int option, int value) {
    RawMemory.putInt(word, value);
    require(
        libc.setsockopt(descriptor, level, option, word),
        "set socket option %d/%d to %d".formatted(level, option, value));
  }

  private static void require(int result, String what) {
    if (result < 0) {
      throw new HcaException("cannot %s: errno %d".formatted(what, -result), -result);
    }
  }

  private int boundPort() {
    RawMemory.putInt(word + NAME, NAME_IPV6_BYTES);
    require(libc.getsockname(descriptor, word, word + NAME), "ask for the socket's port");
    return BigEndian.getShort(word + Short.BYTES) & 0xffff;
  }

  /** What the system gives of what {@link #setUp} asks for, as it counts: with its own records. */
  private int receiveBufferNow() {
    RawMemory.putInt(word + NAME, Integer.BYTES);
    require(
        libc.getsockopt(
            descriptor, LinuxSockets.SOL_SOCKET, LinuxSockets.SO_RCVBUF, word, word + NAME),
        "ask for the socket's buffer");
    return RawMemory.getInt(word);
  }

  private void link(long block) {
    for (int i = 0; i < BATCH; i++) {
      long message = message(block, i);
      RawMemory.putLong(message, name(block, i));
      RawMemory.putLong(message + MESSAGE_NAME_BYTES, nameBytes());
      RawMemory.putLong(message + MESSAGE_IOVEC, iovec(block, i));
      RawMemory.putLong(message + MESSAGE_IOVECS, 1);
    }
  }

  private static long message(long block, int i) {
    return block + (long) i * MESSAGE;
  }

  private static long name(long block, int i) {
    return block + (long) BATCH * MESSAGE + (long) i * NAME;
  }

  private static long iovec(long block, int i) {
    return block + (long) BATCH * (MESSAGE + NAME) + (long) i * IOVEC;
  }

  private static long control(long block, int i) {
    return block + (long) BATCH * (MESSAGE + NAME + IOVEC) + (long) i * CONTROL;
  }

  private int nameBytes() {
    return ipv6 ? NAME_IPV6_BYTES : NAME_IPV4_BYTES;
  }

  private void writeName(long at, Gid address, int toPort) {
    RawMemory.putLong(at, 0);
    RawMemory.putLong(at + 8, 0);
    RawMemory.putLong(at + 16, 0);
    RawMemory.putLong(at + 24, 0);
    RawMemory.putShort(at, (short) (ipv6 ? LinuxSockets.AF_INET6 : LinuxSockets.AF_INET));
    BigEndian.putShort(at + Short.BYTES, (short) toPort);
    if (ipv6) {
      address.write(at + 8);
    } else {
      BigEndian.putInt(at + Integer.BYTES, address.ipv4());
    }
  }

  /** The address that it is bound to. */
  Gid local() {
    return local;
  }

  /** The port that it is bound to. */
  int port() {
    return port;
  }

  /** Bytes that wait to be received at most, as the system counts them: {@link #footprint}. */
  int receiveBuffer() {
    return receiveBuffer;
  }

  /**
   * What a datagram takes of a receive buffer: Linux counts the power of two that it allocates for
   * the bytes, their headers and the end of the buffer, and the buffer's own record.
   */
  static int footprint(int bytes) {
    return 2 * Integer.highestOneBit(bytes + BUFFER_ENDS - 1) + BUFFER_RECORD;
  }

  // Sending.

  /** How many more datagrams {@link #queue} takes before {@link #send}. */
  int room() {
    return BATCH - queued;
  }

  /** Datagrams that wait for {@link #send}. */
  int waiting() {
    return queued - sent;
  }

  /**
   * Queues a datagram, whose bytes must stay as they are until it is sent.
   *
   * @param toPort its destination port
   */
  void queue(long address, int bytes, Gid to, int toPort, int traffic) {
    int i = queued++;
    writeName(name(sends, i), to, toPort);
    long iovec = iovec(sends, i);
    RawMemory.putLong(iovec, address);
    RawMemory.putLong(iovec + Long.BYTES, bytes);
    long message = message(sends, i);
    if (traffic == 0) {
      RawMemory.putLong(message + MESSAGE_CONTROL, 0);
      RawMemory.putLong(message + MESSAGE_CONTROL_BYTES, 0);
      return;
    }
    long control = control(sends, i);
    RawMemory.putLong(control, CONTROL_INT);
    RawMemory.putInt(control + 8, ipv6 ? LinuxSockets.IPPROTO_IPV6 : LinuxSockets.IPPROTO_IP);
    RawMemory.putInt(control + 12, ipv6 ? LinuxSockets.IPV6_TCLASS : LinuxSockets.IP_TOS);
    RawMemory.putInt(control + CONTROL_DATA, traffic);
    RawMemory.putLong(message + MESSAGE_CONTROL, control);
    RawMemory.putLong(message + MESSAGE_CONTROL_BYTES, CONTROL_INT_SPACE);
  }

  /**
   * Sends what is queued, as far as the system takes it. What it refuses for good is counted and
   * passed over.
   *
   * @return how many datagrams are done with
   */
  int send() {
    int before = sent;
    while (sent < queued) {
      int done = libc.sendmmsg(descriptor, message(sends, sent), queued - sent);
      if (done > 0) {
        sent += done;
      } else if (done == -LinuxSockets.EAGAIN || done == -LinuxSockets.ENOBUFS) {
        break;
      } else if (done != -LinuxSockets.EINTR) {
        lastError = -done;
        refused++;
        sent++;
      }
    }
    int finished = sent - before;
    if (sent == queued) {
      sent = 0;
      queued = 0;
    }
    return finished;
  }

  // Receiving.

  /** Where datagram {@code i} of the next {@link #receive} goes. */
  void receiveAt(int i, long address, int bytes) {
    long iovec = iovec(receives, i);
    RawMemory.putLong(iovec, address);
    RawMemory.putLong(iovec + Long.BYTES, bytes);
  }

  /**
   * Takes up to {@code count} datagrams that have arrived.
   *
   * @return how many there are
   */
  int receive(int count) {
    for (int i = 0; i < count; i++) {
      RawMemory.putLong(message(receives, i) + MESSAGE_CONTROL_BYTES, CONTROL);
      RawMemory.putInt(message(receives, i) + MESSAGE_NAME_BYTES, NAME_IPV6_BYTES);
    }
    int got = libc.recvmmsg(descriptor, message(receives, 0), count);
    if (got < 0) {
      if (got != -LinuxSockets.EAGAIN && got != -LinuxSockets.EINTR) {
        lastError = -got;
      }
      return 0;
    }
    return got;
  }

  /** Bytes of datagram {@code i}, or -1 when it was longer than its room. */
  int bytes(int i) {
    long message = message(receives, i);
    boolean cut = (RawMemory.getInt(message + MESSAGE_FLAGS) & MSG_TRUNC) != 0;
    return cut ? -1 : RawMemory.getInt(message + MESSAGE_BYTES);
  }

  /** Native address of the sender's IPv4 or IPv6 address. */
  long senderAddress(int i) {
    return name(receives, i) + (ipv6 ? 8 : Integer.BYTES);
  }

  /** The sender's port. */
  int senderPort(int i) {
    return BigEndian.getShort(name(receives, i) + Short.BYTES) & 0xffff;
  }

  /** Reads what came beside datagram {@code i}: {@link #trafficClass}, {@link #hopLimit}. */
  void look(int i) {
    trafficClass = 0;
    hopLimit = 0;
    long at = control(receives, i);
    long end = at + RawMemory.getLong(message(receives, i) + MESSAGE_CONTROL_BYTES);
    while (at + CONTROL_DATA <= end) {
      long length = RawMemory.getLong(at);
      if (length < CONTROL_DATA) {
        return;
      }
      take(RawMemory.getInt(at + 8), RawMemory.getInt(at + 12), at + CONTROL_DATA);
      at += (length + 7) & -8;
    }
  }

  private void take(int level, int type, long data) {
    if (level == LinuxSockets.SOL_SOCKET && type == LinuxSockets.SO_RXQ_OVFL) {
      int count = RawMemory.getInt(data);
      kernelDrops += count - lastDropCount;
      lastDropCount = count;
    } else if (ipv6 && level == LinuxSockets.IPPROTO_IPV6) {
      if (type == LinuxSockets.IPV6_TCLASS) {
        trafficClass = RawMemory.getInt(data);
      } else if (type == LinuxSockets.IPV6_HOPLIMIT) {
        hopLimit = RawMemory.getInt(data);
      }
    } else if (!ipv6 && level == LinuxSockets.IPPROTO_IP) {
      if (type == LinuxSockets.IP_TOS) {
        trafficClass = RawMemory.getByte(data) & 0xff;
      } else if (type == LinuxSockets.IP_TTL) {
        hopLimit = RawMemory.getInt(data);
      }
    }
  }

  /** DSCP and ECN of the datagram that was looked at. */
  int trafficClass() {
    return trafficClass;
  }

  /** Hop limit of the datagram that was looked at. */
  int hopLimit() {
    return hopLimit;
  }

  /** What the system knows the socket by. */
  int descriptor() {
    return descriptor;
  }

  /** Datagrams that the system dropped because nobody took them in time. */
  long kernelDrops() {
    return kernelDrops;
  }

  /** Datagrams that the system would not send; {@link #lastError} says why. */
  long refused() {
    return refused;
  }

  /** The last errno that was no invitation to try again, or 0. */
  int lastError() {
    return lastError;
  }

  @Override
  public void close() {
    if (!closed) {
      closed = true;
      libc.close(descriptor);
    }
  }
}
