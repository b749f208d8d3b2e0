package dev.doorbell.softhca.requester;

import dev.doorbell.core.fabric.Completion;
import dev.doorbell.core.fabric.DevicePort;
import dev.doorbell.core.memory.AccessFault;
import dev.doorbell.core.mlx5.ControlSegment;
import dev.doorbell.core.mlx5.Opcode;
import dev.doorbell.core.mlx5.SendQueue;
import dev.doorbell.core.mlx5.Syndrome;
import dev.doorbell.softhca.device.VendorSyndrome;
import dev.doorbell.softhca.packet.Psn;
import dev.doorbell.softhca.packet.Wire.Route;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** One WQE of a send queue from its fetch to its completion. Reused. */
final class SendRequest implements Completion {
  enum Phase {
    /** The WQE is being parsed. */
    PARSING,
    /** It may be carried out when its turn comes. */
    PARSED,
    /** Its packets are being made. */
    SENDING,
    /** All packets are made; the acknowledgement or a local read is outstanding. */
    WAITING,
    /** Done, apart from its CQE. */
    DONE,
    /** It has failed, with {@link #syndrome}. */
    FAILED,
    /** The queue pair is in error: it ends with a flush CQE. */
    FLUSHED
  }

  private static final int FIRST_PIECES = 2;

  private final Runnable onProgress;

  Phase phase = Phase.PARSED;

  /** Index of the first block, not cut to 16 bits. */
  long index;

  int blocks;
  int ds;
  int opcode;
  int opmod;
  int fmCeSe;
  int immediate;

  long remoteAddress;
  int rkey;

  /** Access key of the target that an initiator's request is for. */
  long accessKey;

  long swapAdd;
  long compare;
  long swapMask;
  long compareMask;
  int cellBytes;

  /** Payload bytes, of all pieces. */
  long length;

  /** Contiguous pieces of local memory, or of the WQE itself where {@link #isInline}. */
  int pieces;

  /** A bit for each piece: a WQE has 63 units of 16 bytes at most, and pieces are fewer. */
  private long inlinePieces;

  long[] pieceAddress = new long[FIRST_PIECES];
  int[] pieceBytes = new int[FIRST_PIECES];

  /** The regions take writes in any order. */
  boolean relaxed;

  int firstPsn;
  int packets;

  /** Packets made so far; for a READ, response packets requested. */
  int sent;

  /** Most response packets that one request packet of a READ asks for. */
  int stride;

  /** Position of the next packet's payload, or of the next response's: piece and offset in it. */
  int piece;

  int pieceOffset;

  /** Bytes of a READ that have arrived. */
  long received;

  // Address vector of a datagram, and the route to it.
  int queueKey;
  int destination;
  int trafficClass;
  int hopLimit;
  int flowLabel;
  int gidIndex;
  long gidHigh;
  long gidLow;
  @Nullable Route route;

  int syndrome;
  int vendorSyndrome;

  SendRequest(Runnable onProgress) {
    this.onProgress = onProgress;
  }

  /** Takes the control segment of the WQE at {@code index}. */
  void begin(long index, long segment) {
    this.index = index;
    ds = ControlSegment.ds(segment);
    blocks = Math.max(1, SendQueue.blocks(ds));
    opcode = ControlSegment.opcode(segment);
    opmod = ControlSegment.opmod(segment);
    fmCeSe = ControlSegment.fmCeSe(segment);
    immediate = ControlSegment.immediate(segment);
    packets = 0;
    sent = 0;
    piece = 0;
    pieceOffset = 0;
    received = 0;
    vendorSyndrome = VendorSyndrome.NONE;
  }

  /** True for READs and atomics, which end with a response that carries data. */
  boolean hasResponse() {
    return opcode == Opcode.RDMA_READ || Opcode.isAtomic(opcode);
  }

  /** True for a READ that takes several request packets. */
  boolean isSplit() {
    return packets > stride;
  }

  void clearPieces() {
    pieces = 0;
    inlinePieces = 0;
    length = 0;
  }

  /** Adds a piece that lies in the WQE. */
  void addInlinePiece(long address, int bytes) {
    inlinePieces |= 1L << pieces;
    addPiece(address, bytes);
  }

  /** True for a piece that lies in the WQE, whose bytes the HCA has read with it. */
  boolean isInline(int which) {
    return (inlinePieces >>> which & 1) != 0;
  }

  void addPiece(long address, int bytes) {
    if (pieces == pieceAddress.length) {
      pieceAddress = Arrays.copyOf(pieceAddress, pieces * 2);
      pieceBytes = Arrays.copyOf(pieceBytes, pieces * 2);
    }
    pieceAddress[pieces] = address;
    pieceBytes[pieces++] = bytes;
    length += bytes;
  }

  /** Moves the cursor on by bytes that the current piece still has. */
  void advance(int bytes) {
    pieceOffset += bytes;
    if (pieceOffset == pieceBytes[piece]) {
      piece++;
      pieceOffset = 0;
    }
  }

  void fail(int syndrome, int vendorSyndrome) {
    phase = Phase.FAILED;
    this.syndrome = syndrome;
    this.vendorSyndrome = vendorSyndrome;
  }

  /** The last packet sequence number of the request. */
  int lastPsn() {
    return Psn.add(firstPsn, packets - 1);
  }

  @Override
  public void completed(boolean ok) {
    if (phase == Phase.PARSING) {
      phase = Phase.PARSED;
    }
    onProgress.run();
  }

  /** Writes response data to local memory, at the cursor. */
  void scatter(DevicePort port, long source, int bytes) {
    try {
      int left = bytes;
      long from = source;
      while (left > 0) {
        int take = Math.min(left, pieceBytes[piece] - pieceOffset);
        port.write(from, pieceAddress[piece] + pieceOffset, take, relaxed);
        from += take;
        left -= take;
        advance(take);
      }
    } catch (AccessFault gone) {
      fail(Syndrome.LOCAL_PROTECTION, VendorSyndrome.MEMORY_GONE);
    }
  }

  /** Continues with packet {@code packet}. A READ's cursor is where responses land, and stays. */
  void seek(int packet, int mtu) {
    sent = packet;
    if (hasResponse()) {
      return;
    }
    piece = 0;
    pieceOffset = 0;
    long skip = (long) packet * mtu;
    while (skip > 0) {
      int take = (int) Math.min(skip, pieceBytes[piece]);
      advance(take);
      skip -= take;
    }
  }

  /**
   * The incomplete requests of a send queue, oldest first, with three 64-bit cursors: {@code
   * oldest} completes next, {@code sending} is carried out next, {@code newest} is one past the
   * last.
   */
  static final class RequestRing {
    private static final int FIRST_SIZE = 2;

    private final Runnable onProgress;
    private final int limit;
    private SendRequest[] requests;
    long oldest;
    long sending;
    long newest;

    /**
     * @param onProgress called when a request may be able to continue
     */
    RequestRing(Runnable onProgress, int limit) {
      this.onProgress = onProgress;
      this.limit = limit;
      requests = new SendRequest[Math.min(limit, FIRST_SIZE)];
      for (int i = 0; i < requests.length; i++) {
        requests[i] = new SendRequest(onProgress);
      }
    }

    SendRequest at(long number) {
      SendRequest[] ring = requests;
      return ring[(int) number & (ring.length - 1)];
    }

    boolean isEmpty() {
      return oldest == newest;
    }

    boolean isFull() {
      return newest - oldest == limit;
    }

    /** The request that {@link #newest} will count when it moves on. */
    SendRequest next() {
      if (newest - oldest == requests.length) {
        grow();
      }
      return at(newest);
    }

    /** Doubles the ring, all of whose requests are live. */
    private void grow() {
      SendRequest[] old = requests;
      SendRequest[] larger = new SendRequest[old.length * 2];
      for (long number = oldest; number < newest; number++) {
        larger[(int) number & (larger.length - 1)] = old[(int) number & (old.length - 1)];
      }
      for (long number = newest; number < oldest + larger.length; number++) {
        larger[(int) number & (larger.length - 1)] = new SendRequest(onProgress);
      }
      requests = larger;
    }
  }
}
