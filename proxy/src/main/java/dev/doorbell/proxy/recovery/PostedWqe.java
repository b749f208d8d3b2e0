package dev.doorbell.proxy.recovery;

import dev.doorbell.core.mlx5.ControlSegment;
import dev.doorbell.core.mlx5.Opcode;
import dev.doorbell.core.mlx5.SendQueue;
import dev.doorbell.core.mlx5.generated.DataSegment;
import dev.doorbell.core.mlx5.generated.RemoteAddressSegment;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** A WQE that a kernel has written, copied out of its ring. */
final class PostedWqe {
  private final long index;
  private final MemorySegment bytes;
  private final long at;

  /**
   * Copies the WQE out.
   *
   * @param ring native address of a copy of the ring
   * @param index of its first block, not cut to 16 bits
   */
  PostedWqe(long ring, int ringBlocks, long index) {
    int ds = ControlSegment.ds(SendQueue.blockAddress(ring, ringBlocks, index));
    this.index = index;
    this.bytes =
        Arena.ofAuto()
            .allocate((long) SendQueue.blocks(ds) << SendQueue.BLOCK_SHIFT, SendQueue.BLOCK);
    this.at = bytes.address();
    SendQueue.copyOut(ring, ringBlocks, index, ds, at);
  }

  /** Index of its first block. */
  long index() {
    return index;
  }

  int blocks() {
    return SendQueue.blocks(ControlSegment.ds(at));
  }

  int opcode() {
    return ControlSegment.opcode(at);
  }

  /** True when the peer counts it. */
  boolean isMessage() {
    return Opcode.isMessage(opcode());
  }

  /** All of its blocks. */
  MemorySegment bytes() {
    return bytes;
  }

  /** Where the old value of an atomic belongs: its one data segment is its last unit. */
  long resultAddress() {
    return DataSegment.address(lastUnit());
  }

  private long lastUnit() {
    return at + ((ControlSegment.ds(at) - 1L) << SendQueue.UNIT_SHIFT);
  }

  /** Makes it a WQE at {@code to} of {@code connection}: index, queue pair and keys change. */
  void moveTo(KernelConnection connection, long to) {
    ControlSegment.write(
        at,
        ControlSegment.opmod(at),
        (int) to,
        opcode(),
        connection.queue().view().number24(),
        ControlSegment.ds(at),
        ControlSegment.fmCeSe(at),
        ControlSegment.immediate(at));
    long segment = at + ControlSegment.BYTES;
    if (Opcode.hasRemoteAddress(opcode())) {
      RemoteAddressSegment.write(
          segment,
          RemoteAddressSegment.address(segment),
          connection.remoteKey(RemoteAddressSegment.rkey(segment)));
      segment += RemoteAddressSegment.BYTES;
    }
    if (Opcode.isAtomic(opcode())) {
      segment = lastUnit();
    }
    long end = lastUnit();
    if (segment <= end && !DataSegment.isInline(segment)) {
      for (; segment <= end; segment += DataSegment.BYTES) {
        DataSegment.write(
            segment,
            DataSegment.byteCount(segment),
            connection.localKey(DataSegment.lkey(segment)),
            DataSegment.address(segment));
      }
    }
  }

  @Override
  public String toString() {
    return "WQE %d, %s".formatted(index, Opcode.name(opcode()));
  }
}
