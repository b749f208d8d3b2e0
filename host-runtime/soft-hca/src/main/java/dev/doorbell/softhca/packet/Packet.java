package dev.doorbell.softhca;

import dev.doorbell.core.fabric.Completion;
import dev.doorbell.core.fabric.DevicePort;
import dev.doorbell.core.memory.RawMemory;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * One packet of the transport, with its headers as fields, from the pool of the HCA that sends it.
 *
 * <p>The payload stands in place in the sender's memory where the fabric allows that, else in the
 * packet's own buffer. The receiver gives the packet back to its pool.
 */
final class Packet implements Completion, DevicePort.AtomicFunction {
  /** Bytes of payload at most: the largest path MTU. */
  static final int MAX_PAYLOAD = 4096;

  /** What has to happen before a packet is on the wire, in this order. */
  enum Phase {
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

  final PacketPool pool;

  // Base transport header.
  int opcode;
  int destination;
  int psn;
  boolean ackRequest;
  boolean solicited;

  // RETH, AtomicETH, ImmDt, AETH, AtomicAckETH: those that the opcode has.
  long remoteAddress;
  int rkey;
  int dmaLength;
  int immediate;
  long swapAdd;
  long compare;

  /** Of a masked compare-and-swap: the swap mask. Of a masked fetch-add: the field boundary. */
  long swapMask;

  long compareMask;
  int cellBytes;
  int syndrome;
  int msn;
  long atomicResult;

  // Payload.
  long payload;
  int bytes;

  // Way to the wire.
  Phase phase = Phase.HELD;
  @Nullable TxQueue queue;
  @Nullable Route route;

  /** The request that this packet is the last one of, for traces and errors. */
  @Nullable SendRequest request;

  boolean lastOfMessage;

  /** Sender's queue pair and WQE, for the trace of the receiver. */
  int originQpn;

  int originIndex;

  /** Responses made so far for a READ request that waits for packets. */
  int progress;

  @Nullable Packet next;

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
  long buffer() {
    long address = buffer;
    if (address == 0) {
      slab = pool.slab();
      address = pool.nextBuffer();
      buffer = address;
    }
    return address;
  }

  /** Clears what the last use may have left and the next one does not write. */
  void reset() {
    phase = Phase.HELD;
    ackRequest = false;
    solicited = false;
    lastOfMessage = false;
    bytes = 0;
    progress = 0;
    reads = 0;
    refused = false;
    abandoned = false;
    next = null;
    request = null;
  }

  /** Between this and {@link #endReads}, {@link #addRead} counts transfers into the packet. */
  void beginReads() {
    phase = Phase.READING;
    reads = 1;
  }

  /** A transfer with this packet as its completion did not finish at once. */
  void addRead() {
    reads++;
  }

  void endReads() {
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
  boolean abandon() {
    abandoned = phase == Phase.READING || phase == Phase.FRAMING;
    return !abandoned;
  }

  @Override
  public void completed(boolean ok) {
    switch (phase) {
      case READING -> readDone(ok);
      case FRAMING -> phase = Phase.READY;
      case TRAVELLING -> {
        Route way = route;
        if (way != null) {
          way.arrived(this);
        }
        return;
      }
      default -> throw new IllegalStateException("nothing was under way for " + this);
    }
    if (phase == Phase.READING) {
      return;
    }
    if (abandoned) {
      pool.release(this);
    } else if (queue != null) {
      queue.ready();
    }
  }

  /** The new value of the cell that an atomic works on; cells are little-endian. */
  @Override
  public long apply(long old) {
    return switch (opcode) {
      case PacketOpcode.FETCH_ADD -> old + swapAdd;
      case PacketOpcode.COMPARE_SWAP -> old == compare ? swapAdd : old;
      // A carry out of a boundary bit is dropped: add without those bits, then put them in.
      case PacketOpcode.MASKED_FETCH_ADD ->
          ((old & ~swapMask) + (swapAdd & ~swapMask)) ^ ((old ^ swapAdd) & swapMask);
      default ->
          ((old ^ compare) & compareMask) == 0 ? (old & ~swapMask) | (swapAdd & swapMask) : old;
    };
  }

  /** Takes the old value of an atomic out of the buffer it was read to. */
  void takeAtomicResult() {
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
