package dev.doorbell.softhca;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import dev.doorbell.contract.Endpoint;
import dev.doorbell.core.agent.Agent;
import dev.doorbell.core.fabric.Access;
import dev.doorbell.core.fabric.Fabric;
import dev.doorbell.core.fabric.RunOutcome;
import dev.doorbell.core.fabric.ThreadPort;
import dev.doorbell.core.hca.CompletionQueue;
import dev.doorbell.core.hca.CompletionQueueAttributes;
import dev.doorbell.core.hca.ConnectionAttributes;
import dev.doorbell.core.hca.ProtectionDomain;
import dev.doorbell.core.hca.QueuePair;
import dev.doorbell.core.hca.QueuePairAttributes;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.mlx5.Cqe;
import dev.doorbell.core.mlx5.Doorbell;
import dev.doorbell.core.mlx5.DoorbellRecord;
import dev.doorbell.core.mlx5.Opcode;
import dev.doorbell.core.mlx5.generated.DataSegment;
import dev.doorbell.core.mlx5.generated.RemoteAddressSegment;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What messages and idle queue pairs cost in memory, on any wire. */
public abstract class CostContract {
  private static final int BATCH = 64;
  private static final long MINUTE = 60_000_000_000L;

  private final SoftWorld world;
  private final Fabric fabric;
  private final ThreadPort cpu;
  private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  /** On a fabric that runs as fast as it can. */
  protected CostContract(SoftWorld world) {
    this.world = world;
    this.fabric = world.fabric;
    this.cpu = fabric.attachThread(Locus.cpu(0), (Agent) budget -> 0);
  }

  @AfterEach
  void close() {
    world.close();
  }

  /** Bytes that a message may cost: 0, or fewer than the smallest object takes. */
  protected int tolerated() {
    return 0;
  }

  /** Batches of one kind of request, after which nothing but native memory has changed. */
  private final class Batches implements BooleanSupplier {
    private final Endpoint a = new Endpoint(world, 0, Endpoint.Shape.usual());
    private final Endpoint b = new Endpoint(world, 1, Endpoint.Shape.usual());
    private final int opcode;
    private long posted;
    private int left;

    Batches(int opcode, int bytes) {
      this.opcode = opcode;
      Endpoint.connect(a, b);
      for (int slot = 0; slot < BATCH; slot++) {
        long wqe = a.queuePair.sendRingAddress() + slot * 64L;
        RemoteAddressSegment.write(wqe + 16, b.address(0), b.region.rkey());
        boolean atomic = opcode == Opcode.ATOMIC_FA;
        DataSegment.write(wqe + (atomic ? 48 : 32), bytes, a.region.lkey(), a.address(0));
        if (opcode == Opcode.SEND) {
          DataSegment.write(wqe + 16, bytes, a.region.lkey(), a.address(0));
        }
      }
      for (int slot = 0; slot < 16; slot++) {
        DataSegment.write(
            b.queuePair.receiveRingAddress() + slot * 16L, bytes, b.region.lkey(), b.address(0));
      }
    }

    /** Runs so many batches, one after the other. */
    void run(int batches) {
      left = batches;
      if (fabric.run(this, MINUTE) != RunOutcome.DONE) {
        throw new IllegalStateException("batch before WQE %d did not end".formatted(posted));
      }
    }

    int messages() {
      return opcode == Opcode.SEND ? 16 : BATCH;
    }

    private void post() {
      int qpn = a.queuePair.number();
      int count = messages();
      int ds = opcode == Opcode.ATOMIC_FA ? 4 : opcode == Opcode.SEND ? 2 : 3;
      for (int i = 0; i < count; i++, posted++) {
        dev.doorbell.core.mlx5.ControlSegment.write(
            a.queuePair.sendRingAddress() + (posted & (BATCH - 1)) * 64,
            0,
            (int) posted,
            opcode,
            qpn,
            ds,
            dev.doorbell.core.mlx5.ControlSegment.CQ_UPDATE,
            0);
      }
      if (opcode == Opcode.SEND) {
        DoorbellRecord.putReceiveIndex(b.queuePair.recordAddress(), posted);
      }
      DoorbellRecord.putSendIndex(a.queuePair.recordAddress(), posted);
      cpu.store64(a.queuePair.doorbellAddress(), Doorbell.encode(posted, qpn), Access.MMIO);
    }

    /** True when the last batch has ended; posts the next one when one has. */
    @Override
    public boolean getAsBoolean() {
      if (posted > 0 && !hasEnded()) {
        return false;
      }
      if (left-- == 0) {
        return true;
      }
      post();
      return false;
    }

    private boolean hasEnded() {
      long ring = a.sendQueue.ringAddress();
      return Cqe.isOwnedBySoftware(Cqe.entryAddress(ring, 256, posted - 1), posted - 1, 256);
    }
  }

  @ParameterizedTest
  @CsvSource({"8, 8", "8, 20000", "16, 8", "16, 20000", "10, 8", "10, 20000", "18, 8"})
  void messages_make_no_garbage(int opcode, int bytes) {
    Batches batches = new Batches(opcode, bytes);
    batches.run(300);
    long thread = Thread.currentThread().threadId();
    long before = threads.getThreadAllocatedBytes(thread);
    batches.run(0);
    long ofTheRun = threads.getThreadAllocatedBytes(thread) - before;
    long least = Long.MAX_VALUE;
    // Compilation may allocate on this thread now and then: a leak per message never stops.
    for (int attempt = 0; attempt < 20 && least > 0; attempt++) {
      before = threads.getThreadAllocatedBytes(thread);
      batches.run(50);
      long allocated = threads.getThreadAllocatedBytes(thread) - before;
      least = Math.min(least, allocated - ofTheRun);
    }
    assertThat(least)
        .as("bytes allocated for 50 batches of opcode 0x%x", opcode)
        .isLessThanOrEqualTo(50L * batches.messages() * tolerated());
  }

  @Test
  void ten_thousand_queue_pairs_are_open_at_once_and_each_works() {
    int pairs = 5_000;
    ProtectionDomain[] domains = {
      world.hca(0).allocateProtectionDomain(), world.hca(1).allocateProtectionDomain()
    };
    CompletionQueue[] queues = new CompletionQueue[2];
    for (int side = 0; side < 2; side++) {
      queues[side] =
          domains[side].createCompletionQueue(
              CompletionQueueAttributes.ring(1 << 13, MemoryKind.HOST), world.memory(side));
    }
    Endpoint a = new Endpoint(world, 0, Endpoint.Shape.usual(), domains[0]);
    Endpoint b = new Endpoint(world, 1, Endpoint.Shape.usual(), domains[1]);
    List<QueuePair> senders = new ArrayList<>();
    long before = heapInUse();
    long spaceBefore = fabric.memory().bytesInUse();
    for (int i = 0; i < pairs; i++) {
      QueuePair[] ends = new QueuePair[2];
      for (int side = 0; side < 2; side++) {
        ends[side] =
            domains[side].createQueuePair(
                new QueuePairAttributes(1, 0, queues[side], null, MemoryKind.HOST, MemoryKind.HOST),
                world.memory(side));
      }
      ends[0].connect(ends[1].address(), Endpoint.ALL, ConnectionAttributes.DEFAULT);
      ends[1].connect(ends[0].address(), Endpoint.ALL, ConnectionAttributes.DEFAULT);
      senders.add(ends[0]);
    }
    long heap = (heapInUse() - before) / (2L * pairs);
    long space = (fabric.memory().bytesInUse() - spaceBefore) / (2L * pairs);
    System.getLogger(CostContract.class.getName())
        .log(
            System.Logger.Level.INFO,
            "an idle queue pair: %d bytes of heap, %d of the address space".formatted(heap, space));
    assertThat(heap).as("bytes of heap of an idle queue pair").isBetween(1L, 8_000L);
    for (int i = 0; i < pairs; i++) {
      QueuePair sender = senders.get(i);
      long wqe = sender.sendRingAddress();
      dev.doorbell.core.mlx5.ControlSegment.write(
          wqe,
          0,
          0,
          Opcode.RDMA_WRITE,
          sender.number(),
          3,
          dev.doorbell.core.mlx5.ControlSegment.CQ_UPDATE,
          0);
      RemoteAddressSegment.write(wqe + 16, b.address(8L * i), b.region.rkey());
      a.buffer.putLong(8L * i, i + 1);
      DataSegment.write(wqe + 32, 8, a.region.lkey(), a.address(8L * i));
      DoorbellRecord.putSendIndex(sender.recordAddress(), 1);
      cpu.store64(sender.doorbellAddress(), Doorbell.encode(1, sender.number()), Access.MMIO);
    }
    assertThat(
            world.runUntil(
                () ->
                    Cqe.isOwnedBySoftware(
                        Cqe.entryAddress(queues[0].ringAddress(), 1 << 13, pairs - 1),
                        pairs - 1,
                        1 << 13)))
        .isTrue();
    for (int i = 0; i < pairs; i++) {
      assertThat(b.buffer.getLong(8L * i)).isEqualTo(i + 1);
    }
  }

  private static long heapInUse() {
    for (int i = 0; i < 3; i++) {
      System.gc();
    }
    return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
  }
}
