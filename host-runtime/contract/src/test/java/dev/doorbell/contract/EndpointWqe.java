package dev.doorbell.contract;

import dev.doorbell.core.hca.AddressHandle;
import dev.doorbell.core.memory.RawMemory;
import dev.doorbell.core.mlx5.ControlSegment;
import dev.doorbell.core.mlx5.InlineSegment;
import dev.doorbell.core.mlx5.MaskedAtomicSegment;
import dev.doorbell.core.mlx5.SendQueue;
import dev.doorbell.core.mlx5.generated.AtomicSegment;
import dev.doorbell.core.mlx5.generated.DataSegment;
import dev.doorbell.core.mlx5.generated.DatagramSegment;
import dev.doorbell.core.mlx5.generated.MaskedAdd4;
import dev.doorbell.core.mlx5.generated.MaskedAdd8;
import dev.doorbell.core.mlx5.generated.MaskedSwap4;
import dev.doorbell.core.mlx5.generated.MaskedSwap8;
import dev.doorbell.core.mlx5.generated.RemoteAddressSegment;
import dev.doorbell.core.mlx5.generated.WaitSegment;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * A WQE of an {@link Endpoint}, segment by segment, valid or invalid as the test requires. {@link
 * #write} and {@link #post} return the index of its first block.
 */
public final class EndpointWqe {
  private final Endpoint end;
  private final int opcode;
  private int units = 1;
  private int opmod;
  private int flags = ControlSegment.CQ_UPDATE;
  private int immediate;
  private int ds = -1;
  private long indexShift;
  private int numberShift;

  EndpointWqe(Endpoint end, int opcode) {
    this.end = end;
    this.opcode = opcode;
  }

  private long next() {
    return end.image.address() + (long) units * SendQueue.UNIT;
  }

  public EndpointWqe flags(int value) {
    flags = value;
    return this;
  }

  public EndpointWqe immediate(int value) {
    immediate = value;
    return this;
  }

  public EndpointWqe opmod(int value) {
    opmod = value;
    return this;
  }

  public EndpointWqe ds(int value) {
    ds = value;
    return this;
  }

  public EndpointWqe wrongIndex(long by) {
    indexShift = by;
    return this;
  }

  public EndpointWqe wrongNumber(int by) {
    numberShift = by;
    return this;
  }

  public EndpointWqe remote(long address, int key) {
    RemoteAddressSegment.write(next(), address, key);
    // GPUNetIO leaves this word as it was: an HCA must not look at it.
    RawMemory.putInt(next() + 12, 0xdeadbeef);
    units++;
    return this;
  }

  /** The destination of a datagram. */
  public EndpointWqe to(AddressHandle handle, int qpn, int queueKey) {
    DatagramSegment.write(
        next(),
        queueKey,
        qpn,
        handle.macAddress(),
        handle.trafficClass(),
        handle.hopLimit(),
        handle.gidIndex(),
        handle.gidHigh(),
        handle.gidLow());
    units += DatagramSegment.BYTES / SendQueue.UNIT;
    return this;
  }

  /** Names the target of a dynamic connection; the remote address, if any, follows. */
  public EndpointWqe toTarget(AddressHandle handle, int number, long accessKey) {
    long segment = next();
    to(handle, number, 0);
    DatagramSegment.putAccessKey(segment, accessKey);
    return this;
  }

  public EndpointWqe data(int bytes, int key, long address) {
    DataSegment.write(next(), bytes, key, address);
    units++;
    return this;
  }

  public EndpointWqe local(long offset, int bytes) {
    return data(bytes, end.region.lkey(), end.address(offset));
  }

  public EndpointWqe inline(byte[] payload) {
    MemorySegment copy = Arena.ofAuto().allocate(Math.max(1, payload.length));
    copy.copyFrom(MemorySegment.ofArray(payload));
    InlineSegment.write(next(), copy.address(), payload.length);
    units += InlineSegment.units(payload.length);
    return this;
  }

  public EndpointWqe atomic(long swapAdd, long compare) {
    AtomicSegment.write(next(), swapAdd, compare);
    units++;
    return this;
  }

  public EndpointWqe maskedAdd(int cell, long add, long boundary) {
    if (cell == 8) {
      opmod = MaskedAtomicSegment.OPMOD_8_BYTES;
      MaskedAdd8.write(next(), add, boundary);
    } else {
      opmod = MaskedAtomicSegment.OPMOD_4_BYTES;
      MaskedAdd4.write(next(), (int) add, (int) boundary);
    }
    units++;
    return this;
  }

  public EndpointWqe maskedSwap(
      int cell, long swap, long compare, long swapMask, long compareMask) {
    if (cell == 8) {
      opmod = MaskedAtomicSegment.OPMOD_8_BYTES;
      MaskedSwap8.write(next(), swap, compare, swapMask, compareMask);
      units += 2;
    } else {
      opmod = MaskedAtomicSegment.OPMOD_4_BYTES;
      MaskedSwap4.write(next(), (int) swap, (int) compare, (int) swapMask, (int) compareMask);
      units++;
    }
    return this;
  }

  public EndpointWqe waitFor(int maxIndex, int cqn) {
    WaitSegment.write(next(), maxIndex, cqn);
    units++;
    return this;
  }

  /** Writes the WQE to the ring, without telling anybody. */
  public long write() {
    int actual = ds < 0 ? units : ds;
    ControlSegment.write(
        end.image.address(),
        opmod,
        (int) (end.posted() + indexShift),
        opcode,
        end.queuePair.number() + numberShift,
        actual,
        flags,
        immediate);
    return end.append(units);
  }

  /** Writes the WQE and rings for it. */
  public long post() {
    long index = write();
    end.record();
    end.ring();
    return index;
  }

  public long imageAddress() {
    return end.image.address();
  }

  public int units() {
    return units;
  }
}
