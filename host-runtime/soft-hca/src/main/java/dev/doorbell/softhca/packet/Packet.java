package dev.doorbell.softhca.packet;

import dev.doorbell.core.fabric.Completion;
import dev.doorbell.core.fabric.DevicePort;
import dev.doorbell.core.memory.RawMemory;
import dev.doorbell.core.roce.BthOpcode;
import dev.doorbell.core.roce.generated.DcEth;
import dev.doorbell.softhca.packet.Wire.Route;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * One packet of the transport, with its headers as fields, from the pool of the HCA that sends it.
 * Only the extended headers that the opcode has ({@link BthOpcode}) count; the others hold
 * anything.
 *
 * <p>The payload stands in place in the sender's memory where the fabric allows that, else in the
 * packet's own buffer. The receiver gives the packet back to its pool.
 */
public final class Packet implements Completion, DevicePort.AtomicFunction {
  /** Bytes of payload at most: the largest path MTU. */
  public static final int MAX_PAYLOAD = 4096;

  /** The partition key of everybody. */
  public static final int DEFAULT_PARTITION = 0xffff;

  /**
   * Preamble and start 8, Ethernet 14, IPv4 20, UDP 8, BTH 12, ICRC 4, frame check 4, inter-frame
   * gap 12.
   */
  static final int FRAME_OVERHEAD = 82;

  static final int SMALLEST_FRAME = 84;

  /** RETH and immediate data. */
  private static final int LARGEST_HEADERS = 20;

  /** The destination of multicasts: many queue pairs, or none. */
  public static final int MANY = 0xff_ffff;

  /** {@link #request} of a packet that no request made. */
  public static final long NO_REQUEST = -1;

  /**
   * Congestion notification in the two low bits of a traffic class (RFC 3168): the sender reacts to
   * marks, ECT(0); and a switch has marked the packet, CE.
   */
  public static final int ECN_CAPABLE = 2;

  private static final int CONGESTION_EXPERIENCED = 3;

  /** Phases of a packet until it is on the wire, in this order. */
  public enum Phase {
    /** DMA reads of the payload are on their way. */
    READING,
    /** All payload is here. */
    HELD,
    /** The packet is being put together. */
    FRAMING,
    /** It may go out when it is the oldest. */
    READY,
    /** On its way to the peer. */
    TRAVELLING,
    /** A DMA read was refused. */
    FAILED
  }

  /** Who waits for a packet to be put together. */
  public interface Owner {
    /** The packet that waited for a transfer or a delay waits no longer. */
    void ready();
  }

  /** Memory of the sender that a packet takes up until the wire has taken it. */
  public interface Buffer {
    /** Frees the room that was taken for {@code bytes} after {@code nanos}. */
    void leaves(int bytes, long nanos);
  }

  public final PacketPool pool;

  // Global route: what becomes of it is the wire's matter.
  public int trafficClass;
  public int flowLabel;
  public int hopLimit;
  public long sourceGidHigh;
  public long sourceGidLow;
  public int sourcePort;
  public long destinationGidHigh;
  public long destinationGidLow;

  // Base transport header.
  public int opcode;
  public int partitionKey;
  public int destination;
  public int psn;
  public boolean ackRequest;
  public boolean solicited;

  /** Forward and backward congestion notification. */
  public boolean forwardCongestion;

  public boolean backwardCongestion;

  // RETH, and the first two also AtomicETH.
  public long remoteAddress;
  public int rkey;
  public int dmaLength;

  /** ImmDt in host order. */
  public int immediate;

  /** IETH: the key to invalidate. */
  public int invalidatedKey;

  // DETH, and the second one also DcEth.
  public int queueKey;
  public int sourceQueuePair;

  /** True on a dynamic connection: requests have a {@code DcEth}, whose fields follow. */
  public boolean dynamic;

  public long accessKey;

  /** Path MTU of the connection, in bytes. */
  public int mtu;

  public int firstPsn;
  public long connection;

  // AtomicETH.
  public long swapAdd;
  public long compare;

  /** Swap mask of a masked compare-and-swap; field boundary of a masked fetch-add. */
  public long swapMask;

  public long compareMask;

  /** Bytes of the cell that an atomic works on, 4 or 8; 8 for the atomics of InfiniBand. */
  public int cellBytes;

  // AETH, AtomicAckETH.
  public int syndrome;
  public int msn;
  public long atomicResult;

  /** Native address of the payload, and its length without padding. */
  public long payload;

  public int bytes;

  // Way to the wire.
  public Phase phase = Phase.HELD;
  public @Nullable Owner owner;

  /** Route of a datagram or of a request of a dynamic connection; null on other connections. */
  public @Nullable Route datagramRoute;

  /** Number of the sender's request that this packet belongs to, for traces and errors. */
  public long request = NO_REQUEST;

  public boolean lastOfMessage;

  /** Sender's queue pair and WQE, for the trace of the receiver. Not on any real wire. */
  public int originQpn;

  public int originIndex;

  /** Knowledge of the sender's half of its queue pair, for fabrics that watch order. */
  public @Nullable Object knowledge;

  /** Responses made so far for a READ request that waits for packets. */
  public int progress;

  public @Nullable Packet next;

  /** Its receiver may be stepped by another host thread. */
  private boolean handedOver;

  private @Nullable Route route;
  private @Nullable Buffer holder;
  private int held;
  private int reads;
  private boolean refused;
  private boolean abandoned;
  private long buffer;

  @SuppressWarnings("UnusedVariable") // keeps the buffer's memory reachable
  private @Nullable MemorySegment slab;

  Packet(PacketPool pool) {
    this.pool = pool;
  }

  /** Native address of {@link #MAX_PAYLOAD} bytes of the packet's own. */
  public long buffer() {
    long address = buffer;
    if (address == 0) {
      slab = pool.slab();
      address = pool.nextBuffer();
      buffer = address;
    }
    return address;
  }

  /** Bytes of the RoCEv2 frame over IPv4 that it is, from Ethernet's preamble to the gap behind. */
  public int frameBytes() {
    return Math.max(
        SMALLEST_FRAME,
        FRAME_OVERHEAD
            + BthOpcode.headerBytes(opcode)
            + (isDynamicRequest() ? DcEth.BYTES : 0)
            + bytes
            + padBytes());
  }

  /** True where a switch has marked the packet. */
  public boolean isMarked() {
    return (trafficClass & CONGESTION_EXPERIENCED) == CONGESTION_EXPERIENCED;
  }

  public void mark() {
    trafficClass |= CONGESTION_EXPERIENCED;
  }

  /** True for a datagram between GIDs of IPv4, which RoCE v2 sends over IPv4. */
  public boolean isIpv4() {
    return isIpv4(sourceGidHigh, sourceGidLow) && isIpv4(destinationGidHigh, destinationGidLow);
  }

  private static boolean isIpv4(long high, long low) {
    return high == 0 && low >>> Integer.SIZE == 0xffff;
  }

  public boolean isDynamicRequest() {
    return dynamic && !BthOpcode.isResponse(opcode);
  }

  /** Bytes of the frame of a packet with so much payload and the largest usual headers. */
  public static int frameBytes(int payloadBytes) {
    return FRAME_OVERHEAD + LARGEST_HEADERS + payloadBytes;
  }

  /** Bytes after the payload that make its length a multiple of four: PadCnt. */
  public int padBytes() {
    return -bytes & 3;
  }

  /** Clears what the last use may have left and the next one does not write. */
  void reset() {
    phase = Phase.HELD;
    partitionKey = DEFAULT_PARTITION;
    ackRequest = false;
    solicited = false;
    forwardCongestion = false;
    backwardCongestion = false;
    lastOfMessage = false;
    dynamic = false;
    bytes = 0;
    progress = 0;
    knowledge = null;
    reads = 0;
    refused = false;
    abandoned = false;
    next = null;
    datagramRoute = null;
    request = NO_REQUEST;
  }

  /** The packet takes up room for {@code bytes} of {@code buffer} until it {@link #leaves}. */
  public void hold(Buffer buffer, int bytes) {
    holder = buffer;
    held = bytes;
  }

  /** The wire will have taken the last byte after {@code nanos}. */
  public void leaves(long nanos) {
    Buffer from = holder;
    if (from != null) {
      holder = null;
      from.leaves(held, nanos);
    }
  }

  /** Nobody needs the packet any more. */
  void retire() {
    leaves(0);
  }

  /** Copies a payload that stands in a program's memory, which may change, to the own buffer. */
  public void keep() {
    if (bytes > 0 && payload != buffer) {
      long own = buffer();
      RawMemory.copy(payload, own, bytes);
      payload = own;
    }
  }

  /** From now on it belongs to its receiver, and refers to nothing of its sender's. */
  public void handOver() {
    keep();
    handedOver = true;
  }

  boolean isHandedOver() {
    return handedOver;
  }

  /** Its sender has it again. */
  void comeBack() {
    handedOver = false;
    next = null;
  }

  /** Makes this packet equal to {@code other}, with the payload in its own buffer. */
  public void copyOf(Packet other) {
    trafficClass = other.trafficClass;
    flowLabel = other.flowLabel;
    hopLimit = other.hopLimit;
    sourceGidHigh = other.sourceGidHigh;
    sourcePort = other.sourcePort;
    sourceGidLow = other.sourceGidLow;
    destinationGidHigh = other.destinationGidHigh;
    destinationGidLow = other.destinationGidLow;
    opcode = other.opcode;
    partitionKey = other.partitionKey;
    destination = other.destination;
    psn = other.psn;
    ackRequest = other.ackRequest;
    solicited = other.solicited;
    forwardCongestion = other.forwardCongestion;
    backwardCongestion = other.backwardCongestion;
    remoteAddress = other.remoteAddress;
    rkey = other.rkey;
    dmaLength = other.dmaLength;
    immediate = other.immediate;
    invalidatedKey = other.invalidatedKey;
    queueKey = other.queueKey;
    sourceQueuePair = other.sourceQueuePair;
    dynamic = other.dynamic;
    accessKey = other.accessKey;
    mtu = other.mtu;
    firstPsn = other.firstPsn;
    connection = other.connection;
    swapAdd = other.swapAdd;
    compare = other.compare;
    swapMask = other.swapMask;
    compareMask = other.compareMask;
    cellBytes = other.cellBytes;
    syndrome = other.syndrome;
    msn = other.msn;
    atomicResult = other.atomicResult;
    originQpn = other.originQpn;
    originIndex = other.originIndex;
    knowledge = other.knowledge;
    bytes = other.bytes;
    payload = other.payload;
    keep();
  }

  /**
   * The packet travels on {@code over}.
   *
   * @return the completion of a delay that ends in {@link Route#arrived}
   */
  public Completion travel(Route over) {
    phase = Phase.TRAVELLING;
    route = over;
    return this;
  }

  /** Between this and {@link #endReads}, {@link #addRead} counts transfers into the packet. */
  public void beginReads() {
    phase = Phase.READING;
    reads = 1;
  }

  /** A transfer with this packet as its completion did not finish at once. */
  public void addRead() {
    reads++;
  }

  public void endReads() {
    readDone(true);
  }

  private void readDone(boolean ok) {
    refused |= !ok;
    if (--reads == 0) {
      phase = refused ? Phase.FAILED : Phase.HELD;
    }
  }

  /**
   * Nobody will send this packet any more.
   *
   * @return true when nothing is under way for it, so that it may go back to the pool
   */
  public boolean abandon() {
    abandoned = phase == Phase.READING || phase == Phase.FRAMING;
    return !abandoned;
  }

  @Override
  public void completed(boolean ok) {
    switch (phase) {
      case READING -> readDone(ok);
      case FRAMING -> phase = Phase.READY;
      case TRAVELLING -> {
        Route over = route;
        if (over != null) {
          over.arrived(this);
        }
        return;
      }
      default -> throw new IllegalStateException("nothing was under way for " + this);
    }
    if (phase == Phase.READING) {
      return;
    }
    Owner waiting = owner;
    if (abandoned) {
      pool.release(this);
    } else if (waiting != null) {
      waiting.ready();
    }
  }

  @Override
  public long apply(long old) {
    return apply(opcode, old, swapAdd, compare, swapMask, compareMask);
  }

  /**
   * The new value of the cell that an atomic works on; cells are little-endian.
   *
   * @param opcode of the request
   */
  public static long apply(
      int opcode, long old, long swapAdd, long compare, long swapMask, long compareMask) {
    return switch (opcode) {
      case BthOpcode.FETCH_ADD -> old + swapAdd;
      case BthOpcode.COMPARE_SWAP -> old == compare ? swapAdd : old;
      // A carry out of a boundary bit is dropped: add without those bits, then put them in.
      case PacketOpcode.MASKED_FETCH_ADD ->
          ((old & ~swapMask) + (swapAdd & ~swapMask)) ^ ((old ^ swapAdd) & swapMask);
      default ->
          ((old ^ compare) & compareMask) == 0 ? (old & ~swapMask) | (swapAdd & swapMask) : old;
    };
  }

  /** Takes the old value of an atomic out of the buffer it was read to. */
  public void takeAtomicResult() {
    atomicResult =
        cellBytes == Long.BYTES
            ? RawMemory.getLong(buffer())
            : RawMemory.getInt(buffer()) & 0xffff_ffffL;
  }

  @Override
  public String toString() {
    return "packet opcode 0x%02x psn 0x%06x to queue pair 0x%x, %d bytes, %s"
        .formatted(opcode, psn, destination, bytes, phase);
  }
}
