package dev.doorbell.softhca.wire;

import dev.doorbell.core.memory.RawMemory;
import dev.doorbell.core.roce.Gid;

/**
 * Datagrams that wait to be sent, many a call.
 *
 * <p>Datagrams of one size to one peer go through the system as one message that it cuts
 * (UDP_SEGMENT): a walk through its network stack for sixty of them. IPv4 counts identifications up
 * in what it cuts for a device, which the ICRC covers and the receiver does not see, so this is
 * done on the way to this machine itself, where nothing is cut, and for IPv6, which has none. A
 * system that refuses is not asked again.
 */
final class Outgoing {
  /** Datagrams at most. */
  static final int CAPACITY = 64;

  private static final int LARGEST_MESSAGE = 65_000;
  private static final int CONTROL_INT = MessageBlock.CONTROL_DATA + Integer.BYTES;
  private static final int CONTROL_SHORT = MessageBlock.CONTROL_DATA + Short.BYTES;

  private final LinuxSockets libc;
  private final int socket;
  private final boolean ipv6;
  private final Gid local;
  private final MessageBlock block;
  private boolean segments;

  private int datagrams;
  private int messages;
  private int sent;

  // Of each message: what it is cut into, and where it goes.
  private final int[] first = new int[CAPACITY];
  private final int[] pieces = new int[CAPACITY];
  private final int[] sizes = new int[CAPACITY];
  private final int[] traffics = new int[CAPACITY];
  private final Gid[] peers = new Gid[CAPACITY];
  private final int[] ports = new int[CAPACITY];

  // Of the newest message.
  private int bytes;
  private boolean open;

  /** Datagrams that the system would not send: too large, no route. */
  long refused;

  /**
   * @param segments whether the system supports UDP_SEGMENT
   */
  Outgoing(LinuxSockets libc, int socket, Gid local, boolean segments) {
    this.libc = libc;
    this.socket = socket;
    this.local = local;
    this.ipv6 = !local.isIpv4();
    this.block = new MessageBlock(CAPACITY, CAPACITY, ipv6);
    this.segments = segments;
  }

  /** Number of datagrams that {@link #queue} takes before {@link #send}. */
  int room() {
    return CAPACITY - datagrams;
  }

  /** Messages that wait for {@link #send}. */
  int waiting() {
    return messages - sent;
  }

  /**
   * Queues a datagram, whose bytes must stay as they are until it is sent.
   *
   * @param port its destination port
   */
  void queue(long address, int length, Gid to, int port, int traffic) {
    int piece = datagrams++;
    block.piece(piece, address, length);
    int last = messages - 1;
    if (open
        && last >= sent
        && length <= sizes[last]
        && bytes + length <= LARGEST_MESSAGE
        && ports[last] == port
        && traffics[last] == traffic
        && peers[last].equals(to)) {
      pieces[last]++;
      bytes += length;
      // A shorter one ends a message.
      open = length == sizes[last];
      if (pieces[last] == 2) {
        describe(last);
      }
      block.pieces(last, first[last], pieces[last]);
      return;
    }
    begin(piece, length, to, port, traffic);
  }

  private void begin(int piece, int length, Gid to, int port, int traffic) {
    int message = messages++;
    first[message] = piece;
    pieces[message] = 1;
    sizes[message] = length;
    traffics[message] = traffic;
    peers[message] = to;
    ports[message] = port;
    bytes = length;
    open = segments && isUncut(to);
    MessageBlock.writeName(block.name(message), to, port);
    block.pieces(message, piece, 1);
    describe(message);
  }

  private boolean isUncut(Gid to) {
    return ipv6 || to.ipv4() >>> 24 == 127 || to.equals(local);
  }

  /** Writes the control messages. */
  private void describe(int message) {
    long at = block.control(message);
    if (traffics[message] != 0) {
      RawMemory.putLong(at, CONTROL_INT);
      RawMemory.putInt(at + 8, ipv6 ? LinuxSockets.IPPROTO_IPV6 : LinuxSockets.IPPROTO_IP);
      RawMemory.putInt(at + 12, ipv6 ? LinuxSockets.IPV6_TCLASS : LinuxSockets.IP_TOS);
      RawMemory.putInt(at + MessageBlock.CONTROL_DATA, traffics[message]);
      at += MessageBlock.CONTROL_SPACE;
    }
    if (pieces[message] > 1) {
      RawMemory.putLong(at, CONTROL_SHORT);
      RawMemory.putInt(at + 8, LinuxSockets.SOL_UDP);
      RawMemory.putInt(at + 12, LinuxSockets.UDP_SEGMENT);
      RawMemory.putShort(at + MessageBlock.CONTROL_DATA, (short) sizes[message]);
      at += MessageBlock.CONTROL_SPACE;
    }
    block.controlBytes(message, at - block.control(message));
  }

  /**
   * Sends what is queued, as far as the system takes it. What it refuses for good is counted and
   * passed over.
   *
   * @return how many messages are done with
   */
  int send() {
    int before = sent;
    while (sent < messages) {
      int done = libc.sendmmsg(socket, block.message(sent), messages - sent);
      if (done > 0) {
        sent += done;
      } else if (done == -LinuxSockets.EAGAIN || done == -LinuxSockets.ENOBUFS) {
        break;
      } else if (pieces[sent] > 1 && isRefusalToCut(-done)) {
        before = 0;
        cut();
      } else if (done != -LinuxSockets.EINTR) {
        refused += pieces[sent];
        sent++;
      }
    }
    int finished = sent - before;
    if (sent == messages) {
      sent = 0;
      messages = 0;
      datagrams = 0;
      open = false;
    }
    return finished;
  }

  private static boolean isRefusalToCut(int errno) {
    return errno == LinuxSockets.EINVAL
        || errno == LinuxSockets.EIO
        || errno == LinuxSockets.EMSGSIZE;
  }

  /** The system does not cut messages after all: every datagram becomes one again. */
  private void cut() {
    segments = false;
    int from = first[sent];
    int count = datagrams - from;
    Gid[] to = new Gid[count];
    int[] toPort = new int[count];
    int[] traffic = new int[count];
    for (int message = sent; message < messages; message++) {
      for (int i = 0; i < pieces[message]; i++) {
        int piece = first[message] + i - from;
        to[piece] = peers[message];
        toPort[piece] = ports[message];
        traffic[piece] = traffics[message];
      }
    }
    messages = 0;
    sent = 0;
    for (int i = 0; i < count; i++) {
      begin(from + i, block.pieceBytes(from + i), to[i], toPort[i], traffic[i]);
    }
  }
}
