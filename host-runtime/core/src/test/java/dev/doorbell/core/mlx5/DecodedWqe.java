package dev.doorbell.core.mlx5;

import dev.doorbell.core.memory.RawMemory;
import dev.doorbell.core.mlx5.generated.AtomicSegment;
import dev.doorbell.core.mlx5.generated.DataSegment;
import dev.doorbell.core.mlx5.generated.RemoteAddressSegment;
import dev.doorbell.core.mlx5.generated.WaitSegment;
import dev.doorbell.core.print.Scratch;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;

/** Everything that a WQE says, read and written by the descriptors only. */
record DecodedWqe(
    int opmod, int index, int opcode, int qpn, int fmCeSe, int immediate, List<Segment> segments) {

  /** One segment after the control segment. */
  sealed interface Segment {
    int units();

    void write(long at);
  }

  record Remote(long address, int rkey) implements Segment {
    @Override
    public int units() {
      return 1;
    }

    @Override
    public void write(long at) {
      RemoteAddressSegment.write(at, address, rkey);
    }
  }

  record Data(int byteCount, int lkey, long address) implements Segment {
    @Override
    public int units() {
      return 1;
    }

    @Override
    public void write(long at) {
      DataSegment.write(at, byteCount, lkey, address);
    }
  }

  record Inline(String hex) implements Segment {
    int byteCount() {
      return hex.length() / 2;
    }

    @Override
    public int units() {
      return InlineSegment.units(byteCount());
    }

    @Override
    public void write(long at) {
      byte[] bytes = HexFormat.of().parseHex(hex);
      Scratch.with(
          bytes,
          source -> {
            InlineSegment.write(at, source, bytes.length);
            return at;
          });
    }
  }

  record Atomic(long swapAdd, long compare) implements Segment {
    @Override
    public int units() {
      return 1;
    }

    @Override
    public void write(long at) {
      AtomicSegment.write(at, swapAdd, compare);
    }
  }

  record MaskedAdd4(int add, int boundary) implements Segment {
    @Override
    public int units() {
      return 1;
    }

    @Override
    public void write(long at) {
      dev.doorbell.core.mlx5.generated.MaskedAdd4.write(at, add, boundary);
    }
  }

  record MaskedAdd8(long add, long boundary) implements Segment {
    @Override
    public int units() {
      return 1;
    }

    @Override
    public void write(long at) {
      dev.doorbell.core.mlx5.generated.MaskedAdd8.write(at, add, boundary);
    }
  }

  record MaskedSwap4(int swap, int compare, int swapMask, int compareMask) implements Segment {
    @Override
    public int units() {
      return 1;
    }

    @Override
    public void write(long at) {
      dev.doorbell.core.mlx5.generated.MaskedSwap4.write(at, swap, compare, swapMask, compareMask);
    }
  }

  record MaskedSwap8(long swap, long compare, long swapMask, long compareMask) implements Segment {
    @Override
    public int units() {
      return 2;
    }

    @Override
    public void write(long at) {
      dev.doorbell.core.mlx5.generated.MaskedSwap8.write(at, swap, compare, swapMask, compareMask);
    }
  }

  record Wait(int maxIndex, int cqn) implements Segment {
    @Override
    public int units() {
      return 1;
    }

    @Override
    public void write(long at) {
      WaitSegment.write(at, maxIndex, cqn);
    }
  }

  /** 16 bytes of zero, as some libraries pad a NOP. */
  record Zero() implements Segment {
    @Override
    public int units() {
      return 1;
    }

    @Override
    public void write(long at) {
      RawMemory.fill(at, SendQueue.UNIT, (byte) 0);
    }
  }

  int ds() {
    return 1 + segments.stream().mapToInt(Segment::units).sum();
  }

  /** Writes it in one piece. */
  void write(long address) {
    ControlSegment.write(address, opmod, index, opcode, qpn, ds(), fmCeSe, immediate);
    long at = address + ControlSegment.BYTES;
    for (Segment segment : segments) {
      segment.write(at);
      at += (long) segment.units() * SendQueue.UNIT;
    }
  }

  static DecodedWqe read(long address) {
    int opcode = ControlSegment.opcode(address);
    int opmod = ControlSegment.opmod(address);
    List<Segment> segments = new ArrayList<>();
    long at = address + ControlSegment.BYTES;
    long end = address + (long) ControlSegment.ds(address) * SendQueue.UNIT;
    if (Opcode.hasRemoteAddress(opcode)) {
      segments.add(new Remote(RemoteAddressSegment.address(at), RemoteAddressSegment.rkey(at)));
      at += RemoteAddressSegment.BYTES;
    }
    if (Opcode.isAtomic(opcode)) {
      Segment operands = readOperands(opcode, MaskedAtomicSegment.cellBytes(opmod), at);
      segments.add(operands);
      at += (long) operands.units() * SendQueue.UNIT;
    } else if (opcode == Opcode.WAIT) {
      segments.add(new Wait(WaitSegment.maxIndex(at), WaitSegment.cqn(at)));
      at += WaitSegment.BYTES;
    }
    while (at < end) {
      Segment segment = opcode == Opcode.NOP ? new Zero() : readData(at);
      segments.add(segment);
      at += (long) segment.units() * SendQueue.UNIT;
    }
    return new DecodedWqe(
        opmod,
        ControlSegment.wqeIndex(address),
        opcode,
        ControlSegment.qpn(address),
        ControlSegment.fmCeSe(address),
        ControlSegment.immediate(address),
        segments);
  }

  private static Segment readOperands(int opcode, int cellBytes, long at) {
    return switch (opcode) {
      case Opcode.ATOMIC_MASKED_FA ->
          cellBytes == 4
              ? new MaskedAdd4(
                  dev.doorbell.core.mlx5.generated.MaskedAdd4.add(at),
                  dev.doorbell.core.mlx5.generated.MaskedAdd4.boundary(at))
              : new MaskedAdd8(
                  dev.doorbell.core.mlx5.generated.MaskedAdd8.add(at),
                  dev.doorbell.core.mlx5.generated.MaskedAdd8.boundary(at));
      case Opcode.ATOMIC_MASKED_CS ->
          cellBytes == 4
              ? new MaskedSwap4(
                  dev.doorbell.core.mlx5.generated.MaskedSwap4.swap(at),
                  dev.doorbell.core.mlx5.generated.MaskedSwap4.compare(at),
                  dev.doorbell.core.mlx5.generated.MaskedSwap4.swapMask(at),
                  dev.doorbell.core.mlx5.generated.MaskedSwap4.compareMask(at))
              : new MaskedSwap8(
                  dev.doorbell.core.mlx5.generated.MaskedSwap8.swap(at),
                  dev.doorbell.core.mlx5.generated.MaskedSwap8.compare(at),
                  dev.doorbell.core.mlx5.generated.MaskedSwap8.swapMask(at),
                  dev.doorbell.core.mlx5.generated.MaskedSwap8.compareMask(at));
      default -> new Atomic(AtomicSegment.swapAdd(at), AtomicSegment.compare(at));
    };
  }

  private static Segment readData(long at) {
    if (!DataSegment.isInline(at)) {
      return new Data(DataSegment.byteCount(at), DataSegment.lkey(at), DataSegment.address(at));
    }
    byte[] bytes = new byte[InlineSegment.byteCount(at)];
    RawMemory.copyOut(
        at + InlineSegment.DATA_OFFSET, MemorySegment.ofArray(bytes), 0, bytes.length);
    return new Inline(HexFormat.of().formatHex(bytes));
  }
}
