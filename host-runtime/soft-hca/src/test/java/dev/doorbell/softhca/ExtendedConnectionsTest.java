package dev.doorbell.softhca;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.doorbell.contract.Endpoint;
import dev.doorbell.core.hca.ConnectionAttributes;
import dev.doorbell.core.hca.HcaException;
import dev.doorbell.core.hca.ProtectionDomain;
import dev.doorbell.core.hca.SharedReceiveQueue;
import dev.doorbell.core.hca.SharedReceiveQueueAttributes;
import dev.doorbell.core.hca.Transport;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.mlx5.Cqe;
import dev.doorbell.core.mlx5.DoorbellRecord;
import dev.doorbell.core.mlx5.Opcode;
import dev.doorbell.core.mlx5.SharedReceiveSegment;
import dev.doorbell.core.mlx5.Syndrome;
import dev.doorbell.core.mlx5.generated.DataSegment;
import dev.doorbell.softhca.objects.SoftCompletionQueue;
import dev.doorbell.softhca.objects.SoftSharedReceiveQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Extended reliable connections (XRC), over a wire that can be told to hurt packets. */
class ExtendedConnectionsTest {
  private static final int MTU = 256;
  private static final int RECEIVES = 8;
  private static final int BYTES = 4_000;

  private final SteppedWorld world = SteppedWorld.withMtu(MTU);
  private ProtectionDomain xrc;
  private Endpoint sender;
  private Endpoint receiver;

  /** A program at the receiver's side: a domain, a shared queue with its completions, memory. */
  private final class Program {
    final Endpoint end = new Endpoint(world, 1, Endpoint.Shape.usual());
    final SharedReceiveQueue queue =
        end.domain.createSharedReceiveQueue(
            new SharedReceiveQueueAttributes(RECEIVES, 1, MemoryKind.HOST, MemoryKind.HOST),
            world.memory(1));

    Program(ProtectionDomain of) {
      ((SoftSharedReceiveQueue) queue)
          .extend((SoftCompletionQueue) end.receiveQueue, (SoftProtectionDomain) of);
      for (int i = 0; i < RECEIVES; i++) {
        long wqe =
            SharedReceiveSegment.wqeAddress(queue.ringAddress(), queue.attributes().stride(), i);
        SharedReceiveSegment.write(wqe, i + 1 & (RECEIVES - 1));
        DataSegment.write(
            wqe + SharedReceiveSegment.BYTES, BYTES, end.region.lkey(), end.address(at(i)));
      }
      DoorbellRecord.putReceiveIndex(queue.recordAddress(), RECEIVES);
    }
  }

  private static long at(int receive) {
    return (long) receive * BYTES;
  }

  @BeforeEach
  void connect() {
    xrc = world.hca(1).allocateProtectionDomain();
    Endpoint.Shape shape =
        Endpoint.Shape.usual().withReceives(0).withTransport(Transport.XRC, null);
    sender = new Endpoint(world, 0, shape);
    receiver = new Endpoint(world, 1, shape, xrc);
    Endpoint.connect(sender, receiver, new ConnectionAttributes(10, 7, 7, 1, 16, 16, 0));
  }

  @AfterEach
  void close() {
    world.close();
  }

  @Test
  void one_connection_reaches_the_queues_and_the_memory_of_several_processes() {
    Program[] programs = {new Program(xrc), new Program(xrc)};
    world.wire.plan(1, 0.05, 100);
    for (int i = 0; i < 12; i++) {
      Program to = programs[i % 2];
      sender.buffer.putLong(0, 100 + i);
      sender.wqe(Opcode.SEND_IMM).immediate(i).toShared(to.queue.number()).local(0, 1_000).write();
      sender
          .wqe(Opcode.RDMA_WRITE)
          .toShared(to.queue.number())
          .remote(to.end.address(100_000), to.end.region.rkey())
          .local(0, 1_000)
          .write();
      sender
          .wqe(Opcode.ATOMIC_FA)
          .toShared(to.queue.number())
          .remote(to.end.address(200_000), to.end.region.rkey())
          .atomic(1, 0)
          .local(2_000, 8)
          .post();
      for (int j = 0; j < 3; j++) {
        assertThat(sender.pollSend().isError()).as("request %d of round %d", j, i).isFalse();
      }
      Endpoint.Completion receive = to.end.pollReceive();
      assertThat(receive.opcode()).isEqualTo(Cqe.RESPONDER_SEND_IMM);
      assertThat(receive.immediate()).isEqualTo(i);
      assertThat(receive.qpn()).isEqualTo(receiver.queuePair.number());
      assertThat(to.end.buffer.getLong(at(receive.counter()))).isEqualTo(100 + i);
      assertThat(to.end.buffer.getLong(100_000)).isEqualTo(100 + i);
      assertThat(to.end.buffer.getLong(200_000)).isEqualTo(i / 2 + 1);
      assertThat(sender.buffer.getLong(2_000)).isEqualTo(i / 2);
    }
    assertThat(world.wire.faults).isPositive();
  }

  @Test
  void a_key_of_another_process_does_not_fit() {
    Program[] programs = {new Program(xrc), new Program(xrc)};
    sender
        .wqe(Opcode.RDMA_WRITE)
        .toShared(programs[0].queue.number())
        .remote(programs[1].end.address(0), programs[1].end.region.rkey())
        .local(0, 8)
        .post();
    assertThat(sender.pollSend().syndrome()).isEqualTo(Syndrome.REMOTE_ACCESS);
  }

  @Test
  void a_queue_of_another_xrc_domain_is_refused() {
    Program stranger = new Program(world.hca(1).allocateProtectionDomain());
    sender.wqe(Opcode.SEND).toShared(stranger.queue.number()).local(0, 8).post();
    assertThat(sender.pollSend().syndrome()).isEqualTo(Syndrome.REMOTE_INVALID_REQUEST);
    assertThat(stranger.end.hasReceiveCompletion()).isFalse();
  }

  @Test
  void completions_of_a_shared_queue_are_in_use_while_it_lives() {
    Program program = new Program(xrc);
    assertThatThrownBy(program.end.receiveQueue::close)
        .isInstanceOf(HcaException.class)
        .hasMessageContaining("0x%x".formatted(program.end.receiveQueue.number()));
  }
}
