package dev.doorbell.proxy;

import dev.doorbell.core.agent.Agent;
import dev.doorbell.core.fabric.Fabric;
import dev.doorbell.core.fabric.MmioTarget;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.memory.MemoryProvider;
import dev.doorbell.core.memory.RawMemory;
import dev.doorbell.core.mlx5.ControlSegment;
import dev.doorbell.core.mlx5.Cqe;
import dev.doorbell.core.mlx5.Doorbell;
import dev.doorbell.core.mlx5.DoorbellRecord;
import dev.doorbell.core.mlx5.ErrorCqe;
import dev.doorbell.core.mlx5.InlineSegment;
import dev.doorbell.core.mlx5.Opcode;
import dev.doorbell.core.mlx5.SendQueue;
import dev.doorbell.core.mlx5.Syndrome;
import dev.doorbell.core.mlx5.generated.AtomicSegment;
import dev.doorbell.core.mlx5.generated.DataSegment;
import dev.doorbell.core.mlx5.generated.RemoteAddressSegment;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.SplittableRandom;

/**
 * One queue pair that is its own peer: fetches WQEs when rung, at its own pace, moves bytes between
 * addresses, writes CQEs. Any rkey but {@link #KEY} is an error.
 */
final class FakeHca implements Agent, MmioTarget {
  static final int KEY = 0x1f07;
  static final int BLUEFLAME_BYTES = 256;
  private static final int SEND_RECORD = DoorbellRecord.SEND_OFFSET;

  final int number;
  final List<byte[]> executed = new ArrayList<>();
  int doorbells;
  final List<Integer> blueFlameHalves = new ArrayList<>();
  boolean paused;
  int immediates;
  private final SplittableRandom random;
  private final Memory ring;
  private final Memory cq;
  private final Memory record;
  private final Memory uar;
  private final int blocks;
  private final int entries;
  private final boolean collapsed;
  private boolean rung;
  private boolean error;
  private long next;
  private long cqes;

  FakeHca(
      Fabric fabric,
      MemoryProvider memory,
      int number,
      int blocks,
      int entries,
      boolean collapsed) {
    this.number = number;
    this.blocks = blocks;
    this.entries = collapsed ? 1 : entries;
    this.collapsed = collapsed;
    this.random = new SplittableRandom(number);
    ring = memory.allocate(MemoryKind.HOST, (long) blocks * SendQueue.BLOCK, "send ring");
    cq = memory.allocate(MemoryKind.HOST, (long) this.entries * Cqe.BYTES, "completion ring");
    record = memory.allocate(MemoryKind.HOST, 16, "records");
    uar = memory.allocate(MemoryKind.UAR, Doorbell.UAR_BYTES, "UAR page");
    Cqe.fillInitial(cq.address(), this.entries);
    fabric.attachDevice(Locus.nic(0, 0), this).onMmio(uar.address(), this);
  }

  SendQueueAccess access(int index, long error, boolean blueFlame) {
    return new SendQueueAccess(
        ring.address(),
        blocks,
        record.address() + SEND_RECORD,
        uar.address() + Doorbell.REGISTER_OFFSET,
        blueFlame ? BLUEFLAME_BYTES : 0,
        cq.address(),
        entries,
        collapsed,
        collapsed ? 0 : record.address() + Long.BYTES,
        true,
        error,
        number,
        index);
  }

  long ringAddress() {
    return ring.address();
  }

  long recordAddress() {
    return record.address();
  }

  int sendCounter() {
    return DoorbellRecord.sendIndex(record.address());
  }

  @Override
  public void mmioWrite(long address, long source, int bytes) {
    int offset = (int) (address - uar.address());
    if (bytes == Doorbell.BYTES) {
      doorbells++;
      if (Doorbell.index(Doorbell.read(source)) != sendCounter()
          || Doorbell.qpn(Doorbell.read(source)) != number) {
        throw new AssertionError("the doorbell says other than the record");
      }
      rung = true;
      return;
    }
    // A quarter of a block by BlueFlame: it must be what lies in the ring, which came before it.
    int inHalf = offset - Doorbell.REGISTER_OFFSET & BLUEFLAME_BYTES - 1;
    long block = SendQueue.blockAddress(ring.address(), blocks, (sendCounter() - 1) & 0xffffL);
    int units = ControlSegment.ds(block);
    if (inHalf / 16 < units && RawMemory.mismatch(source, block + inHalf, bytes) >= 0) {
      throw new AssertionError("BlueFlame and ring differ at byte " + inHalf);
    }
    if (inHalf == SendQueue.BLOCK - 16) {
      blueFlameHalves.add((offset - Doorbell.REGISTER_OFFSET) / BLUEFLAME_BYTES);
      rung = true;
    }
  }

  @Override
  public int step(int budget) {
    if (paused || !rung) {
      return 0;
    }
    int work = 0;
    int most = 1 + random.nextInt(4);
    while (work < most && SendQueue.distance((int) next & 0xffff, sendCounter()) != 0) {
      execute(SendQueue.blockAddress(ring.address(), blocks, next));
      work++;
    }
    rung = work == most;
    return work;
  }

  private void execute(long wqe) {
    int index = (int) next & 0xffff;
    byte[] image = new byte[ControlSegment.ds(wqe) * SendQueue.UNIT];
    for (int i = 0; i < image.length; i++) {
      image[i] = RawMemory.getByte(wqe + i);
    }
    if (ControlSegment.wqeIndex(wqe) != index || ControlSegment.qpn(wqe) != number) {
      throw new AssertionError(
          "WQE %d of queue pair 0x%x is not in its place".formatted(index, number));
    }
    int syndrome = error ? Syndrome.FLUSHED : perform(wqe);
    if (syndrome == 0) {
      executed.add(image);
    }
    boolean signalled = ControlSegment.isSignalled(ControlSegment.fmCeSe(wqe));
    next += SendQueue.blocks(ControlSegment.ds(wqe));
    if (syndrome != 0 ? error && !signalled : !signalled) {
      return;
    }
    long entry = Cqe.entryAddress(cq.address(), entries, collapsed ? 0 : cqes);
    int owner = collapsed ? 0 : Cqe.ownerFor(cqes, entries);
    if (!collapsed) {
      int consumed = DoorbellRecord.consumerIndex(record.address() + Long.BYTES);
      if (((int) cqes - consumed & DoorbellRecord.CONSUMER_MASK) >= entries) {
        throw new AssertionError("completion queue overrun");
      }
    }
    cqes++;
    int opcode = ControlSegment.opcode(wqe);
    if (syndrome == 0) {
      Cqe.writeRequester(entry, opcode, number, index, 0, 0, owner);
    } else {
      error = true;
      ErrorCqe.write(entry, Cqe.REQUESTER_ERROR, syndrome, 0x77, opcode, number, index, owner);
    }
  }

  private int perform(long wqe) {
    int opcode = ControlSegment.opcode(wqe);
    if (opcode == Opcode.NOP || opcode == Opcode.DUMP) {
      return 0;
    }
    long remote = RemoteAddressSegment.address(wqe + 16);
    if (RemoteAddressSegment.rkey(wqe + 16) != KEY) {
      return Syndrome.REMOTE_ACCESS;
    }
    boolean data = ControlSegment.ds(wqe) > 2;
    long segment = wqe + 32;
    switch (opcode) {
      case Opcode.RDMA_WRITE, Opcode.RDMA_WRITE_IMM -> {
        if (data && DataSegment.isInline(segment)) {
          RawMemory.copy(segment + 4, remote, InlineSegment.byteCount(segment));
        } else if (data) {
          RawMemory.copy(DataSegment.address(segment), remote, DataSegment.byteCount(segment));
        }
        immediates += opcode == Opcode.RDMA_WRITE_IMM ? ControlSegment.immediate(wqe) : 0;
      }
      case Opcode.RDMA_READ -> {
        if (data) {
          RawMemory.copy(remote, DataSegment.address(segment), DataSegment.byteCount(segment));
        }
      }
      case Opcode.ATOMIC_FA, Opcode.ATOMIC_CS -> {
        long old = RawMemory.getLong(remote);
        long operand = AtomicSegment.swapAdd(segment);
        if (opcode == Opcode.ATOMIC_FA) {
          RawMemory.putLong(remote, old + operand);
        } else if (old == AtomicSegment.compare(segment)) {
          RawMemory.putLong(remote, operand);
        }
        RawMemory.putLong(DataSegment.address(wqe + 48), old);
      }
      default -> {
        return Syndrome.LOCAL_QP_OPERATION;
      }
    }
    return 0;
  }

  /** Big-endian words of an executed WQE, as hex. */
  static String hex(byte[] image) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < image.length; i += 4) {
      text.append(i == 0 ? "" : " ").append(HexFormat.of().formatHex(image, i, i + 4));
    }
    return text.toString();
  }
}
