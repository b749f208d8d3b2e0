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
 */
final class UdpSocket implements AutoCloseable {
  private static final int BUFFER_BYTES = 32 << 20;
  private static final int WORDS = MessageBlock.NAME_BYTES + Long.BYTES;

  /** Ethernet, IP and UDP headers with their alignment, and struct skb_shared_info. */
  private static final int BUFFER_ENDS = 400;

  /** struct sk_buff. */
  private static final int BUFFER_RECORD = 256;

  private final LinuxSockets libc = new LinuxSockets();

  /** The socket's file descriptor. */
  final int descriptor;

  private final boolean ipv6;

  /** The address that it is bound to. */
  final Gid local;

  /** The port that it is bound to. */
  final int port;

  /** Bytes that wait to be received at most, as the system counts them: {@link #footprint}. */
  final int receiveBuffer;

  private boolean closed;

  /** A socket address, and a word behind it, for calls that set up. */
  private final MemorySegment memory = Arena.ofAuto().allocate(WORDS, Long.BYTES);

  private final long word = memory.address();

  final Outgoing out;

  final Incoming in;

  /**
   * Opens a socket.
   *
   * @param local address to bind; its family is the socket's
   * @param port port to bind, 0 for any
   * @param hopLimit of what is sent, 1 to 255
   * @param messages received a call
   * @param whole whether datagrams may go and come many in a message, where the system supports
   *     that
   * @throws HcaException when the system refuses
   */
  UdpSocket(Gid local, int port, int hopLimit, int messages, boolean whole) {
    this.local = local;
    this.ipv6 = !local.isIpv4();
    descriptor = libc.socket(ipv6 ? LinuxSockets.AF_INET6 : LinuxSockets.AF_INET);
    require(descriptor, "open a UDP socket");
    boolean segments;
    try {
      setUp(hopLimit);
      segments =
          whole
              && trySet(LinuxSockets.SOL_UDP, LinuxSockets.UDP_SEGMENT, 0)
              && trySet(LinuxSockets.SOL_UDP, LinuxSockets.UDP_GRO, 1);
      MessageBlock.writeName(word, local, port);
      require(
          libc.bind(descriptor, word, MessageBlock.nameBytes(ipv6)),
          "bind UDP %s port %d (another process may have it)".formatted(local, port));
      this.port = boundPort();
      this.receiveBuffer = receiveBufferNow();
    } catch (RuntimeException e) {
      libc.close(descriptor);
      throw e;
    }
    out = new Outgoing(libc, descriptor, local, segments);
    in = new Incoming(libc, descriptor, ipv6, messages);
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
    int level = LinuxSockets.SOL_SOCKET;
    if (!trySet(level, LinuxSockets.SO_RCVBUFFORCE, BUFFER_BYTES)) {
      trySet(level, LinuxSockets.SO_RCVBUF, BUFFER_BYTES);
    }
    if (!trySet(level, LinuxSockets.SO_SNDBUFFORCE, BUFFER_BYTES)) {
      trySet(level, LinuxSockets.SO_SNDBUF, BUFFER_BYTES);
    }
  }

  private boolean trySet(int level, int option, int value) {
    RawMemory.putInt(word, value);
    return libc.setsockopt(descriptor, level, option, word) >= 0;
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
    RawMemory.putInt(word + MessageBlock.NAME_BYTES, MessageBlock.NAME_IPV6_BYTES);
    require(
        libc.getsockname(descriptor, word, word + MessageBlock.NAME_BYTES),
        "ask for the socket's port");
    return BigEndian.getShort(word + Short.BYTES) & 0xffff;
  }

  /** Size of the buffer that the system gives, as it counts: with its own records. */
  private int receiveBufferNow() {
    RawMemory.putInt(word + MessageBlock.NAME_BYTES, Integer.BYTES);
    require(
        libc.getsockopt(
            descriptor,
            LinuxSockets.SOL_SOCKET,
            LinuxSockets.SO_RCVBUF,
            word,
            word + MessageBlock.NAME_BYTES),
        "ask for the socket's buffer");
    return RawMemory.getInt(word);
  }

  /**
   * Bytes of a receive buffer that a datagram takes: Linux counts the power of two that it
   * allocates for the bytes, their headers and the end of the buffer, and the buffer's own record.
   */
  static int footprint(int bytes) {
    return 2 * Integer.highestOneBit(bytes + BUFFER_ENDS - 1) + BUFFER_RECORD;
  }

  @Override
  public void close() {
    if (!closed) {
      closed = true;
      libc.close(descriptor);
    }
  }
}
