package dev.doorbell.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.doorbell.core.hca.CompletionChannel;
import dev.doorbell.core.hca.CompletionQueue;
import dev.doorbell.core.hca.CompletionQueueAttributes;
import dev.doorbell.core.hca.ConnectionAttributes;
import dev.doorbell.core.hca.HcaException;
import dev.doorbell.core.hca.QueuePair;
import dev.doorbell.core.hca.QueuePairAttributes;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.memory.RawMemory;
import dev.doorbell.core.mlx5.ControlSegment;
import dev.doorbell.core.mlx5.Doorbell;
import dev.doorbell.core.mlx5.DoorbellRecord;
import dev.doorbell.core.mlx5.Opcode;
import dev.doorbell.core.mlx5.generated.DataSegment;
import org.junit.jupiter.api.Test;

/** Events of an armed completion queue, and when they are raised. */
abstract class HcaEventContract extends HcaContract {
  /** A connection whose receiver has a completion queue with a channel. */
  private final class NotifiedPair {
    final CompletionChannel channel = world.hca(1).createCompletionChannel();
    final Endpoint sender = new Endpoint(world, 0, USUAL);
    final Endpoint receiver = new Endpoint(world, 1, USUAL);
    final CompletionQueue queue =
        receiver.domain.createCompletionQueue(
            CompletionQueueAttributes.ring(64, MemoryKind.HOST), world.memory(1), channel);
    final QueuePair queuePair =
        receiver.domain.createQueuePair(
            new QueuePairAttributes(16, 16, queue, queue, MemoryKind.HOST, MemoryKind.HOST),
            world.memory(1));
    private int sequence;

    NotifiedPair() {
      queuePair.connect(sender.queuePair.address(), Endpoint.ALL, ConnectionAttributes.DEFAULT);
      sender.queuePair.connect(queuePair.address(), Endpoint.ALL, ConnectionAttributes.DEFAULT);
      for (int i = 0; i < 16; i++) {
        DataSegment.write(
            queuePair.receiveRingAddress() + 16L * i,
            64,
            receiver.region.lkey(),
            receiver.address(0));
      }
      DoorbellRecord.putReceiveIndex(queuePair.recordAddress(), 16);
    }

    /** Stores to the record first, then to the register: an HCA may read either. */
    void arm(long consumed, boolean solicitedOnly) {
      long doorbell = Doorbell.encodeArm(sequence++, solicitedOnly, consumed, queue.number());
      RawMemory.putIntRelease(queue.recordAddress() + DoorbellRecord.ARM_OFFSET, (int) doorbell);
      world.store64(1, queue.armAddress(), doorbell);
      world.settle();
    }

    void send(boolean solicited) {
      sender
          .wqe(Opcode.SEND)
          .flags(ControlSegment.CQ_UPDATE | (solicited ? ControlSegment.SOLICITED : 0))
          .local(0, 8)
          .post();
      assertThat(sender.pollSend().isError()).isFalse();
      world.settle();
    }
  }

  @Test
  void an_armed_queue_tells_of_one_completion() {
    assumeHas(HcaWorld.Feature.COMPLETION_EVENTS);
    NotifiedPair pair = new NotifiedPair();
    pair.send(false);
    assertThat(pair.channel.poll()).as("not armed").isNull();
    pair.arm(1, false);
    assertThat(pair.channel.poll()).as("nothing new").isNull();
    pair.send(false);
    assertThat(pair.channel.poll()).isSameAs(pair.queue);
    pair.send(false);
    assertThat(pair.channel.poll()).as("one event per arming").isNull();
    pair.arm(2, false);
    assertThat(pair.channel.poll()).as("a completion was there already").isSameAs(pair.queue);
    assertThatThrownBy(pair.channel::close).isInstanceOf(HcaException.class);
  }

  @Test
  void a_queue_armed_for_solicited_completions_lets_others_pass() {
    assumeHas(HcaWorld.Feature.COMPLETION_EVENTS);
    NotifiedPair pair = new NotifiedPair();
    pair.arm(0, true);
    pair.send(false);
    assertThat(pair.channel.poll()).isNull();
    pair.send(true);
    assertThat(pair.channel.poll()).isSameAs(pair.queue);
    pair.arm(2, true);
    pair.queuePair.toError();
    world.settle();
    assertThat(pair.channel.poll()).as("errors count as solicited").isSameAs(pair.queue);
  }
}
