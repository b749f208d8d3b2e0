package dev.doorbell.verbs;

import dev.doorbell.core.hca.AccessRight;
import dev.doorbell.core.hca.CompletionQueueAttributes;
import dev.doorbell.core.hca.ConnectionAttributes;
import dev.doorbell.core.hca.Hca;
import dev.doorbell.core.hca.HcaException;
import dev.doorbell.core.hca.ProtectionDomain;
import dev.doorbell.core.hca.QueuePair;
import dev.doorbell.core.hca.QueuePairAttributes;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.memory.MemoryProvider;
import dev.doorbell.core.memory.RawMemory;
import dev.doorbell.core.mlx5.ControlSegment;
import dev.doorbell.core.mlx5.Cqe;
import dev.doorbell.core.mlx5.Doorbell;
import dev.doorbell.core.mlx5.DoorbellRecord;
import dev.doorbell.core.mlx5.ErrorCqe;
import dev.doorbell.core.mlx5.Opcode;
import dev.doorbell.core.mlx5.Syndrome;
import java.util.EnumSet;

/**
 * Posts one NOP on a queue pair that is connected to itself. Its CQE shows that firmware accepted
 * the queues and that the device reads the ring, receives doorbells and writes completions:
 * whatever fails later is not the set-up of the host.
 */
final class SelfTest {
  private static final int BLOCKS = 64;
  private static final int ENTRIES = 64;
  private static final long TIMEOUT_NANOS = 2_000_000_000L;

  private SelfTest() {}

  static void run(Hca hca, MemoryProvider memory) {
    ProtectionDomain domain = hca.allocateProtectionDomain();
    var queue =
        domain.createCompletionQueue(
            CompletionQueueAttributes.ring(ENTRIES, MemoryKind.HOST), memory);
    QueuePair queuePair =
        domain.createQueuePair(
            new QueuePairAttributes(BLOCKS, 0, queue, null, MemoryKind.HOST, MemoryKind.HOST),
            memory);
    queuePair.connect(
        queuePair.address(), EnumSet.noneOf(AccessRight.class), ConnectionAttributes.DEFAULT);
    ControlSegment.write(
        queuePair.sendRingAddress(),
        0,
        0,
        Opcode.NOP,
        queuePair.number(),
        1,
        ControlSegment.CQ_UPDATE,
        0);
    DoorbellRecord.putSendIndex(queuePair.recordAddress(), 1);
    ring(queuePair, Doorbell.encode(1, queuePair.number()));
    await(hca, queue.ringAddress());
    queuePair.close();
    queue.close();
    domain.close();
  }

  private static void ring(QueuePair queuePair, long doorbell) {
    java.lang.invoke.VarHandle.fullFence();
    RawMemory.putLongOpaque(queuePair.deviceRegisterAddress(), doorbell);
    java.lang.invoke.VarHandle.fullFence();
  }

  private static void await(Hca hca, long entry) {
    long deadline = System.nanoTime() + TIMEOUT_NANOS;
    while (!Cqe.isOwnedBySoftware(entry, 0, ENTRIES)) {
      if (System.nanoTime() - deadline > 0) {
        throw new HcaException(
            "%s does not answer: a NOP on a queue pair that is connected to itself was not completed in 2 s. Doorbells do not reach the device (in a VM or container its UAR page may not be passed through), or it cannot reach this memory (an IOMMU between them)"
                .formatted(hca.name()));
      }
      Thread.onSpinWait();
    }
    if (Cqe.isError(Cqe.opcode(entry))) {
      int syndrome = ErrorCqe.syndrome(entry);
      throw new HcaException(
          "%s fails a NOP on a queue pair that is connected to itself: %s. %s"
              .formatted(hca.name(), Syndrome.name(syndrome), Syndrome.remedy(syndrome)));
    }
  }
}
