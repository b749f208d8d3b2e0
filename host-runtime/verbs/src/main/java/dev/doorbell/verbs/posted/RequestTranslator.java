package dev.doorbell.verbs.posted;

import dev.doorbell.core.memory.BigEndian;
import dev.doorbell.core.memory.RawMemory;
import dev.doorbell.core.mlx5.ControlSegment;
import dev.doorbell.core.mlx5.InlineSegment;
import dev.doorbell.core.mlx5.Opcode;
import dev.doorbell.core.mlx5.SendQueue;
import dev.doorbell.core.mlx5.Syndrome;
import dev.doorbell.core.mlx5.generated.AtomicSegment;
import dev.doorbell.core.mlx5.generated.DataSegment;
import dev.doorbell.core.mlx5.generated.RemoteAddressSegment;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Translates a WQE to an {@code ibv_send_wr}. Inline payload is not copied: the ring is registered,
 * and a data segment points into it; two do where the payload wraps around its end.
 */
final class RequestTranslator {
  private static final int OK = 0;
  private static final int WQE_BYTES = 1024;

  private final long ring;
  private final int ringBlocks;
  private final int ringKey;
  private final int maxSegments;
  private final MemorySegment memory;
  private final long wqe;
  private final long segments;

  /** Native address of the {@code ibv_send_wr}. */
  final long request;

  /** Native address for the pointer to a request that could not be posted. */
  final long badRequest;

  // Fields of the last WQE.
  private int ds;
  private int opcode;
  private int fmCeSe;
  private int segmentCount;
  private int bytes;

  /**
   * @param ringKey the lkey of the ring
   */
  RequestTranslator(long ring, int ringBlocks, int ringKey, int maxSegments) {
    this.ring = ring;
    this.ringBlocks = ringBlocks;
    this.ringKey = ringKey;
    this.maxSegments = maxSegments;
    this.memory =
        Arena.ofAuto()
            .allocate(
                WQE_BYTES
                    + SendRequestLayout.BYTES
                    + Long.BYTES
                    + (long) maxSegments * SendRequestLayout.SEGMENT_BYTES,
                SendQueue.BLOCK);
    this.wqe = memory.address();
    this.request = wqe + WQE_BYTES;
    this.badRequest = request + SendRequestLayout.BYTES;
    this.segments = badRequest + Long.BYTES;
  }

  /** Blocks of the WQE; one if its DS is invalid. */
  int blocks() {
    return Math.max(1, SendQueue.blocks(ds));
  }

  int opcode() {
    return opcode;
  }

  boolean isSignalled() {
    return ControlSegment.completionMode(fmCeSe) >= ControlSegment.CQ_UPDATE;
  }

  /** Payload bytes of the request. */
  int bytes() {
    return bytes;
  }

  /**
   * Reads the WQE at block {@code index} and fills {@link #request}.
   *
   * @param end producer index of the doorbell record
   * @return 0, or the syndrome of the error CQE that an HCA would write
   */
  int translate(long index, long end, int qpn, long id) {
    long control = SendQueue.blockAddress(ring, ringBlocks, index);
    ds = ControlSegment.ds(control);
    opcode = ControlSegment.opcode(control);
    fmCeSe = ControlSegment.fmCeSe(control);
    bytes = 0;
    segmentCount = 0;
    boolean legal =
        ds > 0
            && index + SendQueue.blocks(ds) <= end
            && ControlSegment.wqeIndex(control) == ((int) index & SendQueue.INDEX_MASK)
            && ControlSegment.qpn(control) == qpn;
    if (!legal) {
      ds = 1;
      return Syndrome.LOCAL_QP_OPERATION;
    }
    SendQueue.copyOut(ring, ringBlocks, index, ds, wqe);
    RawMemory.fill(request, SendRequestLayout.BYTES, (byte) 0);
    RawMemory.putLong(request + SendRequestLayout.ID_OFFSET, id);
    int syndrome = body(index);
    RawMemory.putLong(request + SendRequestLayout.SEGMENTS_OFFSET, segments);
    RawMemory.putInt(request + SendRequestLayout.SEGMENT_COUNT_OFFSET, segmentCount);
    RawMemory.putInt(request + SendRequestLayout.FLAGS_OFFSET, flags());
    return syndrome;
  }

  /** Fills {@link #request} with a signalled WRITE of no bytes, in place of a WQE in error. */
  void placeholder(long id) {
    RawMemory.fill(request, SendRequestLayout.BYTES, (byte) 0);
    RawMemory.putLong(request + SendRequestLayout.ID_OFFSET, id);
    put(SendRequestLayout.RDMA_WRITE);
    RawMemory.putInt(request + SendRequestLayout.FLAGS_OFFSET, SendRequestLayout.SIGNALED);
  }

  private int flags() {
    return (isSignalled() ? SendRequestLayout.SIGNALED : 0)
        | (ControlSegment.fence(fmCeSe) != 0 ? SendRequestLayout.FENCE : 0)
        | (ControlSegment.isSolicited(fmCeSe) ? SendRequestLayout.SOLICITED : 0);
  }

  private int body(long index) {
    return switch (opcode) {
      case Opcode.NOP -> {
        put(SendRequestLayout.RDMA_WRITE);
        yield OK;
      }
      case Opcode.RDMA_WRITE -> rdma(index, SendRequestLayout.RDMA_WRITE, true);
      case Opcode.RDMA_WRITE_IMM -> rdma(index, SendRequestLayout.RDMA_WRITE_WITH_IMM, true);
      case Opcode.RDMA_READ -> rdma(index, SendRequestLayout.RDMA_READ, false);
      case Opcode.SEND -> send(index, SendRequestLayout.SEND);
      case Opcode.SEND_IMM -> send(index, SendRequestLayout.SEND_WITH_IMM);
      case Opcode.ATOMIC_FA -> atomic(index, SendRequestLayout.ATOMIC_FETCH_AND_ADD);
      case Opcode.ATOMIC_CS -> atomic(index, SendRequestLayout.ATOMIC_CMP_AND_SWP);
      default -> Syndrome.LOCAL_QP_OPERATION;
    };
  }

  private void put(int verbsOpcode) {
    RawMemory.putInt(request + SendRequestLayout.OPCODE_OFFSET, verbsOpcode);
    // Both are big-endian.
    RawMemory.putInt(
        request + SendRequestLayout.IMMEDIATE_OFFSET,
        BigEndian.swap(ControlSegment.immediate(wqe)));
  }

  private int send(long index, int verbsOpcode) {
    put(verbsOpcode);
    return payload(index, 1, true);
  }

  private int rdma(long index, int verbsOpcode, boolean mayBeInline) {
    if (ds < 2) {
      return Syndrome.LOCAL_QP_OPERATION;
    }
    put(verbsOpcode);
    long remote = wqe + SendQueue.UNIT;
    RawMemory.putLong(
        request + SendRequestLayout.REMOTE_ADDRESS_OFFSET, RemoteAddressSegment.address(remote));
    RawMemory.putInt(
        request + SendRequestLayout.RDMA_KEY_OFFSET, RemoteAddressSegment.rkey(remote));
    return payload(index, 2, mayBeInline);
  }

  private int atomic(long index, int verbsOpcode) {
    if (ds < 4) {
      return Syndrome.LOCAL_QP_OPERATION;
    }
    put(verbsOpcode);
    long remote = wqe + SendQueue.UNIT;
    if (RemoteAddressSegment.address(remote) % AtomicSegment.CELL_BYTES != 0) {
      // Providers reject it at the post; with mlx5 the peer rejects it.
      return Syndrome.REMOTE_INVALID_REQUEST;
    }
    long operands = remote + SendQueue.UNIT;
    RawMemory.putLong(
        request + SendRequestLayout.REMOTE_ADDRESS_OFFSET, RemoteAddressSegment.address(remote));
    RawMemory.putInt(
        request + SendRequestLayout.ATOMIC_KEY_OFFSET, RemoteAddressSegment.rkey(remote));
    long swapAdd = AtomicSegment.swapAdd(operands);
    boolean add = verbsOpcode == SendRequestLayout.ATOMIC_FETCH_AND_ADD;
    RawMemory.putLong(
        request + SendRequestLayout.ATOMIC_COMPARE_ADD_OFFSET,
        add ? swapAdd : AtomicSegment.compare(operands));
    RawMemory.putLong(request + SendRequestLayout.ATOMIC_SWAP_OFFSET, add ? 0 : swapAdd);
    int syndrome = payload(index, 3, false);
    return syndrome == OK && bytes != AtomicSegment.CELL_BYTES ? Syndrome.LOCAL_LENGTH : syndrome;
  }

  private int payload(long index, int firstUnit, boolean mayBeInline) {
    int unit = firstUnit;
    while (unit < ds) {
      long segment = wqe + (long) unit * SendQueue.UNIT;
      if (!DataSegment.isInline(segment)) {
        int length = DataSegment.byteCount(segment);
        if (!add(DataSegment.address(segment), length, DataSegment.lkey(segment))) {
          return Syndrome.LOCAL_QP_OPERATION;
        }
        unit++;
        continue;
      }
      int length = InlineSegment.byteCount(segment);
      int units = InlineSegment.units(length);
      if (!mayBeInline || unit + units > ds || !inRing(index, unit, length)) {
        return Syndrome.LOCAL_QP_OPERATION;
      }
      unit += units;
    }
    return OK;
  }

  private boolean inRing(long index, int unit, int length) {
    long start = SendQueue.unitAddress(ring, ringBlocks, index, unit) + InlineSegment.DATA_OFFSET;
    long untilEnd = ring + ((long) ringBlocks << SendQueue.BLOCK_SHIFT) - start;
    int first = (int) Math.min(length, untilEnd);
    return add(start, first, ringKey) && (first == length || add(ring, length - first, ringKey));
  }

  private boolean add(long address, int length, int key) {
    if (segmentCount == maxSegments) {
      return false;
    }
    long at = segments + (long) segmentCount * SendRequestLayout.SEGMENT_BYTES;
    RawMemory.putLong(at + SendRequestLayout.SEGMENT_ADDRESS_OFFSET, address);
    RawMemory.putInt(at + SendRequestLayout.SEGMENT_LENGTH_OFFSET, length);
    RawMemory.putInt(at + SendRequestLayout.SEGMENT_KEY_OFFSET, key);
    segmentCount++;
    bytes += length;
    return true;
  }

  /** The native memory, which callers keep reachable while they use its addresses. */
  MemorySegment memory() {
    return memory;
  }
}
