package dev.doorbell.contract;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.hca.AsyncEvent;
import dev.doorbell.core.hca.CompletionQueueAttributes;
import dev.doorbell.core.hca.ConnectionAttributes;
import dev.doorbell.core.hca.QueuePairState;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.mlx5.ControlSegment;
import dev.doorbell.core.mlx5.Cqe;
import dev.doorbell.core.mlx5.Opcode;
import dev.doorbell.core.mlx5.Syndrome;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests of every {@link dev.doorbell.core.hca.Hca}, whatever it is made of: here what arrives
 * where, and which event is raised; errors and objects are in the classes above. A back end extends
 * this class and provides the world.
 */
public abstract class HcaContractTest extends HcaErrorContract {
  // Data.

  @ParameterizedTest
  @ValueSource(ints = {1, 8, 255, 4095, 4096, 4097, 8192, 100_000})
  void a_write_puts_its_bytes_and_no_others(int bytes) {
    Endpoint[] ends = pair();
    byte[] payload = noise(bytes, bytes);
    ends[0].buffer.putBytes(7, payload);
    byte[] before = noise(99, bytes + 200);
    ends[1].buffer.putBytes(0, before);
    long index = ends[0].rdmaWrite(ends[1], 7, 100, bytes).post();
    Endpoint.Completion completion = ends[0].pollSend();
    world.settle();
    assertSuccess(completion, Opcode.RDMA_WRITE, index);
    assertThat(completion.bytes()).isEqualTo(bytes);
    assertThat(completion.qpn()).isEqualTo(ends[0].queuePair.number());
    assertThat(ends[1].buffer.getBytes(100, bytes)).isEqualTo(payload);
    assertThat(ends[1].buffer.getBytes(0, 100))
        .isEqualTo(java.util.Arrays.copyOfRange(before, 0, 100));
    assertThat(ends[1].buffer.getBytes(100 + bytes, 100))
        .isEqualTo(java.util.Arrays.copyOfRange(before, 100 + bytes, 200 + bytes));
  }

  @Test
  void a_write_of_nothing_completes_and_needs_no_key() {
    Endpoint[] ends = pair();
    ends[0].wqe(Opcode.RDMA_WRITE).remote(0, 0).post();
    assertSuccess(ends[0].pollSend(), Opcode.RDMA_WRITE, 0);
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6})
  void random_requests_leave_the_bytes_that_a_byte_array_model_has(long seed) {
    Endpoint.Shape shape = USUAL.withSendBlocks(seed % 2 == 0 ? 64 : 32);
    Endpoint[] ends = pair(shape, shape);
    new RandomTraffic(world, ends[0], ends[1], seed).run(150);
  }

  @Test
  void both_ends_send_at_once() {
    Endpoint[] ends = pair();
    byte[] one = noise(1, 30_000);
    byte[] two = noise(2, 30_000);
    ends[0].buffer.putBytes(0, one);
    ends[1].buffer.putBytes(0, two);
    for (int i = 0; i < 8; i++) {
      ends[0].rdmaWrite(ends[1], 0, 100_000 + i * 30_000L, 30_000).write();
      ends[1].rdmaWrite(ends[0], 0, 100_000 + i * 30_000L, 30_000).write();
    }
    for (Endpoint end : ends) {
      end.record();
      end.ring();
    }
    for (int i = 0; i < 8; i++) {
      assertThat(ends[0].pollSend().isError()).isFalse();
      assertThat(ends[1].pollSend().isError()).isFalse();
    }
    world.settle();
    for (int i = 0; i < 8; i++) {
      assertThat(ends[1].buffer.getBytes(100_000 + i * 30_000L, 30_000)).isEqualTo(one);
      assertThat(ends[0].buffer.getBytes(100_000 + i * 30_000L, 30_000)).isEqualTo(two);
    }
  }

  @Test
  void indices_wrap_at_sixteen_bits() {
    Endpoint[] ends = pair();
    long last = 70_000;
    long polled = 0;
    while (ends[0].posted() < last) {
      for (int i = 0; i < 32; i++) {
        long value = ends[0].posted();
        ends[0]
            .wqe(Opcode.RDMA_WRITE)
            .remote(ends[1].address(value % 512 * 8), ends[1].region.rkey())
            .inline(ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).putLong(value).array())
            .flags(i == 31 ? ControlSegment.CQ_UPDATE : 0)
            .write();
      }
      ends[0].record();
      ends[0].ring();
      polled = ends[0].posted();
      assertSuccess(ends[0].pollSend(), Opcode.RDMA_WRITE, polled - 1);
    }
    world.settle();
    for (long value = polled - 512; value < polled; value++) {
      assertThat(ends[1].buffer.getLong(value % 512 * 8)).isEqualTo(value);
    }
  }

  @Test
  void the_smallest_ring_of_one_block_works_again_and_again() {
    Endpoint[] ends = pair(USUAL.withSendBlocks(smallestRing()), USUAL);
    for (int i = 0; i < 10; i++) {
      ends[0].buffer.putLong(0, i);
      ends[0].rdmaWrite(ends[1], 0, 8L * i, 8).post();
      assertSuccess(ends[0].pollSend(), Opcode.RDMA_WRITE, i);
    }
    world.settle();
    for (int i = 0; i < 10; i++) {
      assertThat(ends[1].buffer.getLong(8L * i)).isEqualTo(i);
    }
  }

  private int smallestRing() {
    return world.hca(0).attributes().minSendBlocks();
  }

  @Test
  void an_atomic_of_eight_bytes_returns_the_old_value() {
    Endpoint[] ends = pair();
    ends[1].buffer.putLong(64, 40);
    ends[0]
        .wqe(Opcode.ATOMIC_FA)
        .remote(ends[1].address(64), ends[1].region.rkey())
        .atomic(2, 2)
        .local(0, 8)
        .post();
    assertSuccess(ends[0].pollSend(), Opcode.ATOMIC_FA, 0);
    world.settle();
    assertThat(ends[0].buffer.getLong(0)).isEqualTo(40);
    assertThat(ends[1].buffer.getLong(64)).isEqualTo(42);
  }

  @Test
  void a_four_byte_masked_atomic_returns_its_old_value_in_wire_order() {
    assumeHas(HcaWorld.Feature.MASKED_ATOMICS);
    Endpoint[] ends = pair();
    ends[1].buffer.putLong(64, 0x1_0000_0005L);
    ends[0]
        .wqe(Opcode.ATOMIC_MASKED_FA)
        .remote(ends[1].address(64), ends[1].region.rkey())
        .maskedAdd(4, 3, 0)
        .local(0, 4)
        .post();
    assertSuccess(ends[0].pollSend(), Opcode.ATOMIC_MASKED_FA, 0);
    world.settle();
    assertThat(ends[0].buffer.getLong(0) & 0xffff_ffffL).isEqualTo(0x0500_0000L);
    assertThat(ends[1].buffer.getLong(64)).isEqualTo(0x1_0000_0008L);
  }

  @Test
  void a_send_with_immediate_fills_the_receive_and_tells_both_sides() {
    Endpoint[] ends = pair();
    byte[] payload = noise(3, 5_000);
    ends[0].buffer.putBytes(0, payload);
    ends[1].postReceive(1_000, 6_000);
    ends[0].wqe(Opcode.SEND_IMM).immediate(0xcafebabe).local(0, 5_000).post();
    assertSuccess(ends[0].pollSend(), Opcode.SEND_IMM, 0);
    Endpoint.Completion receive = ends[1].pollReceive();
    assertThat(receive.opcode()).isEqualTo(Cqe.RESPONDER_SEND_IMM);
    assertThat(receive.bytes()).isEqualTo(5_000);
    assertThat(receive.immediate()).isEqualTo(0xcafebabe);
    assertThat(receive.counter()).isZero();
    world.settle();
    assertThat(ends[1].buffer.getBytes(1_000, 5_000)).isEqualTo(payload);
  }

  @Test
  void a_write_with_immediate_consumes_a_receive_and_leaves_its_buffer_alone() {
    Endpoint[] ends = pair();
    ends[0].buffer.putLong(0, 77);
    ends[1].postReceive(1_000, 64);
    ends[0]
        .wqe(Opcode.RDMA_WRITE_IMM)
        .immediate(5)
        .remote(ends[1].address(8), ends[1].region.rkey())
        .local(0, 8)
        .post();
    assertSuccess(ends[0].pollSend(), Opcode.RDMA_WRITE_IMM, 0);
    Endpoint.Completion receive = ends[1].pollReceive();
    assertThat(receive.opcode()).isEqualTo(Cqe.RESPONDER_WRITE_IMM);
    assertThat(receive.immediate()).isEqualTo(5);
    assertThat(receive.bytes()).isEqualTo(8);
    world.settle();
    assertThat(ends[1].buffer.getLong(8)).isEqualTo(77);
    assertThat(ends[1].buffer.getBytes(1_000, 64)).containsOnly(0);
  }

  @Test
  void a_send_waits_for_a_receive_that_comes_late() {
    Endpoint[] ends = pair();
    ends[0].buffer.putLong(0, 11);
    ends[0].wqe(Opcode.SEND).local(0, 8).post();
    ends[0].rdmaWrite(ends[1], 0, 64, 8).post();
    world.settle();
    assertThat(ends[0].hasSendCompletion()).isFalse();
    ends[1].postReceive(128, 8);
    assertSuccess(ends[0].pollSend(), Opcode.SEND, 0);
    assertSuccess(ends[0].pollSend(), Opcode.RDMA_WRITE, 1);
    world.settle();
    assertThat(ends[1].buffer.getLong(128)).isEqualTo(11);
    assertThat(ends[1].buffer.getLong(64)).isEqualTo(11);
  }

  @Test
  void a_send_without_a_receive_fails_when_it_may_not_be_retried() {
    Endpoint a = new Endpoint(world, 0, USUAL);
    Endpoint b = new Endpoint(world, 1, USUAL);
    Endpoint.connect(a, b, new ConnectionAttributes(20, 7, 2, 1, 16, 16, 0));
    a.wqe(Opcode.SEND).local(0, 8).post();
    assertThat(a.pollSend().syndrome()).isEqualTo(Syndrome.RNR_RETRY_EXCEEDED);
  }

  // Doorbells and completions.

  @Test
  void a_doorbell_that_comes_twice_changes_nothing() {
    Endpoint[] ends = pair();
    ends[0].rdmaWrite(ends[1], 0, 64, 8).post();
    ends[0].ring();
    ends[0].ring();
    assertSuccess(ends[0].pollSend(), Opcode.RDMA_WRITE, 0);
    world.settle();
    ends[0].ring();
    world.settle();
    assertThat(ends[0].hasSendCompletion()).isFalse();
  }

  @Test
  void a_stale_doorbell_makes_the_hca_look_at_the_record() {
    Endpoint[] ends = pair();
    ends[0].rdmaWrite(ends[1], 0, 64, 8).post();
    assertSuccess(ends[0].pollSend(), Opcode.RDMA_WRITE, 0);
    ends[0].rdmaWrite(ends[1], 0, 72, 8).write();
    ends[0].record();
    ends[0].ring(1);
    assertSuccess(ends[0].pollSend(), Opcode.RDMA_WRITE, 1);
  }

  @Test
  void the_higher_bits_of_a_doorbells_index_do_not_count() {
    Endpoint[] ends = pair();
    ends[0].rdmaWrite(ends[1], 0, 64, 8).write();
    ends[0].record();
    long value = 0x12_0001L << 8;
    long doorbell = Long.reverseBytes(value << 32 | (long) ends[0].queuePair.number() << 8);
    world.store64(0, ends[0].queuePair.doorbellAddress(), doorbell);
    assertSuccess(ends[0].pollSend(), Opcode.RDMA_WRITE, 0);
  }

  @Test
  void one_doorbell_rings_for_many() {
    Endpoint[] ends = pair();
    for (int i = 0; i < 40; i++) {
      ends[0].rdmaWrite(ends[1], 0, 8L * i, 8).write();
    }
    ends[0].record();
    ends[0].ring();
    for (int i = 0; i < 40; i++) {
      assertSuccess(ends[0].pollSend(), Opcode.RDMA_WRITE, i);
    }
  }

  @Test
  void only_requests_that_ask_for_it_get_a_cqe() {
    Endpoint[] ends = pair();
    ends[0].rdmaWrite(ends[1], 0, 8, 8).flags(ControlSegment.COMPLETE_ON_ERROR).write();
    ends[0].rdmaWrite(ends[1], 0, 8, 8).flags(ControlSegment.COMPLETE_ON_FIRST_ERROR).write();
    ends[0].wqe(Opcode.NOP).flags(ControlSegment.CQ_UPDATE).post();
    assertSuccess(ends[0].pollSend(), Opcode.NOP, 2);
    world.settle();
    assertThat(ends[0].hasSendCompletion()).isFalse();
  }

  @Test
  void a_collapsed_queue_always_writes_its_one_entry() {
    Endpoint[] ends =
        pair(USUAL.withCompletions(CompletionQueueAttributes.collapsed(MemoryKind.HOST)), USUAL);
    long entry = ends[0].sendQueue.ringAddress();
    assertThat(Cqe.opcode(entry)).isEqualTo(Cqe.INVALID);
    for (int i = 0; i < 10; i++) {
      int index = (int) ends[0].rdmaWrite(ends[1], 0, 8, 8).post();
      assertThat(
              world.runUntil(
                  () -> Cqe.opcode(entry) == Cqe.REQUESTER && Cqe.wqeCounter(entry) == index))
          .isTrue();
      assertThat(Cqe.owner(entry)).isZero();
    }
  }

  @Test
  void a_ring_flips_the_owner_bit_every_lap() {
    Endpoint[] ends =
        pair(USUAL.withCompletions(CompletionQueueAttributes.ring(4, MemoryKind.HOST)), USUAL);
    for (int i = 0; i < 20; i++) {
      ends[0].rdmaWrite(ends[1], 0, 8, 8).post();
      assertSuccess(ends[0].pollSend(), Opcode.RDMA_WRITE, i);
      long entry = ends[0].sendQueue.ringAddress() + (i % 4) * 64L;
      assertThat(Cqe.owner(entry)).as("CQE %d", i).isEqualTo(i / 4 % 2);
    }
  }

  @Test
  void a_queue_that_watches_its_consumer_overruns_into_an_error() {
    CompletionQueueAttributes watched =
        new CompletionQueueAttributes(4, false, false, MemoryKind.HOST, MemoryKind.HOST);
    Endpoint[] ends = pair(USUAL.withCompletions(watched), USUAL);
    for (int i = 0; i < 12; i++) {
      ends[0].rdmaWrite(ends[1], 0, 8, 8).post();
      assertSuccess(ends[0].pollSend(), Opcode.RDMA_WRITE, i);
    }
    for (int i = 0; i < 5; i++) {
      ends[0].rdmaWrite(ends[1], 0, 8, 8).write();
    }
    ends[0].record();
    ends[0].ring();
    assertThat(world.runUntil(() -> ends[0].queuePair.state() == QueuePairState.ERR)).isTrue();
    assertEvent(0, new AsyncEvent(AsyncEvent.Type.CQ_ERROR, ends[0].sendQueue.number()));
    for (int i = 12; i < 16; i++) {
      assertSuccess(ends[0].pollSend(), Opcode.RDMA_WRITE, i);
    }
  }

  @Test
  void wait_holds_the_queue_until_the_other_queues_completion() {
    assumeHas(HcaWorld.Feature.WAIT);
    Endpoint[] main = pair();
    Endpoint[] companion = pair();
    companion[0].wqe(Opcode.WAIT).waitFor(1, main[0].sendQueue.number()).write();
    companion[0].rdmaWrite(companion[1], 0, 8, 8).post();
    main[0].rdmaWrite(main[1], 0, 8, 8).post();
    assertSuccess(main[0].pollSend(), Opcode.RDMA_WRITE, 0);
    world.settle();
    assertThat(companion[0].hasSendCompletion()).isFalse();
    main[0].rdmaWrite(main[1], 0, 8, 8).post();
    assertSuccess(companion[0].pollSend(), Opcode.WAIT, 0);
    assertSuccess(companion[0].pollSend(), Opcode.RDMA_WRITE, 1);
  }

  @Test
  void a_fenced_write_sends_what_the_read_before_it_brought() {
    Endpoint[] ends = pair();
    byte[] payload = noise(5, 20_000);
    ends[1].buffer.putBytes(0, payload);
    ends[0]
        .wqe(Opcode.RDMA_READ)
        .remote(ends[1].address(0), ends[1].region.rkey())
        .local(0, 20_000)
        .write();
    ends[0]
        .rdmaWrite(ends[1], 0, 100_000, 20_000)
        .flags(ControlSegment.CQ_UPDATE | ControlSegment.FENCE_READS)
        .post();
    assertSuccess(ends[0].pollSend(), Opcode.RDMA_READ, 0);
    assertSuccess(ends[0].pollSend(), Opcode.RDMA_WRITE, 1);
    world.settle();
    assertThat(ends[1].buffer.getBytes(100_000, 20_000)).isEqualTo(payload);
  }
}
