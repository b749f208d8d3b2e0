package dev.doorbell.softhca;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.contract.Endpoint;
import dev.doorbell.core.adapter.Adapters;
import dev.doorbell.core.efa.TxWqe;
import dev.doorbell.core.efa.generated.EfaView;
import dev.doorbell.core.hca.ConnectionAttributes;
import dev.doorbell.core.hca.DeviceQueue;
import dev.doorbell.core.hca.QueuePairState;
import dev.doorbell.core.memory.RawMemory;
import dev.doorbell.core.mlx5.Cqe;
import dev.doorbell.core.mlx5.Opcode;
import dev.doorbell.core.mlx5.Syndrome;
import dev.doorbell.softhca.device.SoftHcaOptions;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Queue pairs whose work requests are EFA's. */
class ForeignQueuesTest {
  private static final int MTU = 256;
  private static final int MESSAGE = 700;

  /** A peer that does not answer is given up after a few milliseconds. */
  private static final ConnectionAttributes IMPATIENT =
      new ConnectionAttributes(1, 1, 7, 12, 16, 16, 0);

  /** Two endpoints on HCAs with EFA's queues. */
  private static final class Pair implements AutoCloseable {
    final SteppedWorld world;
    final Endpoint a;
    final Endpoint b;

    Pair() {
      this(ConnectionAttributes.DEFAULT);
    }

    Pair(ConnectionAttributes attributes) {
      world =
          new SteppedWorld(
              SoftHcaOptions.DEFAULT
                  .withEngine(new SoftHcaOptions.Engine(MTU, 64, 32, 1024))
                  .withAdapter(Adapters.named("efa")));
      Endpoint.Shape shape = Endpoint.Shape.usual();
      a = new Endpoint(world, 0, shape.withReceives(16));
      b = new Endpoint(world, 1, shape.withReceives(16));
      Endpoint.connect(a, b, attributes);
    }

    /** A word of what kernels are given beside the view. */
    long described(int offset) {
      DeviceQueue queue = Objects.requireNonNull(a.queuePair.deviceQueue());
      return MemorySegment.ofArray(queue.descriptor()).get(ValueLayout.JAVA_LONG_UNALIGNED, offset);
    }

    @Override
    public void close() {
      a.close();
      b.close();
      world.close();
    }
  }

  private static byte[] bytes(int seed, int count) {
    byte[] bytes = new byte[count];
    for (int i = 0; i < count; i++) {
      bytes[i] = (byte) (seed * 31 + i);
    }
    return bytes;
  }

  @Test
  void writes_and_reads_move_every_byte_over_many_laps_of_the_ring() {
    try (Pair pair = new Pair()) {
      for (int turn = 0; turn < 200; turn++) {
        byte[] payload = bytes(turn, MESSAGE);
        pair.a.buffer.putBytes(0, payload);
        pair.a.rdmaWrite(pair.b, 0, 4096, MESSAGE).post();
        assertThat(pair.a.pollSend().isError()).isFalse();
        assertThat(pair.b.buffer.getBytes(4096, MESSAGE)).isEqualTo(payload);
        pair.a
            .wqe(Opcode.RDMA_READ)
            .remote(pair.b.address(4096), pair.b.region.rkey())
            .local(8192, MESSAGE)
            .post();
        assertThat(pair.a.pollSend().isError()).isFalse();
        assertThat(pair.a.buffer.getBytes(8192, MESSAGE)).isEqualTo(payload);
      }
    }
  }

  @Test
  void efa_sends_receives_and_writes_with_immediate_data() {
    try (Pair pair = new Pair()) {
      byte[] payload = bytes(1, MTU);
      pair.a.buffer.putBytes(0, payload);
      pair.b.postReceive(1024, MTU);
      pair.a.wqe(Opcode.SEND_IMM).immediate(0x1234).local(0, MTU).post();
      Endpoint.Completion received = pair.b.pollReceive();
      assertThat(received.opcode()).isEqualTo(Cqe.RESPONDER_SEND_IMM);
      assertThat(received.bytes()).isEqualTo(MTU);
      assertThat(received.immediate()).isEqualTo(0x1234);
      assertThat(pair.b.buffer.getBytes(1024, MTU)).isEqualTo(payload);

      pair.b.postReceive(1024, MTU);
      pair.a
          .wqe(Opcode.RDMA_WRITE_IMM)
          .immediate(7)
          .remote(pair.b.address(4096), pair.b.region.rkey())
          .local(0, MTU)
          .post();
      received = pair.b.pollReceive();
      assertThat(received.opcode()).isEqualTo(Cqe.RESPONDER_WRITE_IMM);
      assertThat(received.immediate()).isEqualTo(7);
      assertThat(pair.b.buffer.getBytes(4096, MTU)).isEqualTo(payload);
      assertThat(pair.a.pollSend().isError()).isFalse();
      assertThat(pair.a.pollSend().isError()).isFalse();
    }
  }

  @Test
  void efa_writes_inline_as_far_as_a_work_request_reaches() {
    try (Pair pair = new Pair()) {
      byte[] payload = bytes(3, TxWqe.MAX_INLINE);
      pair.a
          .wqe(Opcode.RDMA_WRITE)
          .remote(pair.b.address(0), pair.b.region.rkey())
          .inline(payload)
          .post();
      assertThat(pair.a.pollSend().isError()).isFalse();
      assertThat(pair.b.buffer.getBytes(0, payload.length)).isEqualTo(payload);
    }
  }

  @Test
  void efa_completes_in_more_than_one_order_and_names_each_request_once() {
    try (Pair pair = new Pair()) {
      Set<String> orders = new HashSet<>();
      int posted = 0;
      for (int turn = 0; turn < 20; turn++) {
        for (int i = 0; i < 6; i++) {
          pair.a.rdmaWrite(pair.b, 0, 1024L * i, MESSAGE).write();
        }
        pair.a.ring();
        int[] order = new int[6];
        for (int i = 0; i < 6; i++) {
          order[i] = pair.a.pollSend().counter() - posted;
        }
        posted += 6;
        orders.add(Arrays.toString(order));
        assertThat(Arrays.stream(order).sorted().toArray()).containsExactly(0, 1, 2, 3, 4, 5);
      }
      assertThat(orders).hasSizeGreaterThan(5);
    }
  }

  @Test
  void efa_counts_completions_over_the_wrap_of_the_counter() {
    try (Pair pair = new Pair()) {
      long counter = pair.described(0);
      assertThat(RawMemory.getLong(counter)).isEqualTo(EfaView.COUNTER_START);
      for (int i = 0; i < 5; i++) {
        pair.a.rdmaWrite(pair.b, 0, 0, 8).post();
        assertThat(pair.a.pollSend().isError()).isFalse();
      }
      assertThat(RawMemory.getLong(counter))
          .isEqualTo(5 - (EfaView.COUNTER_MAX - EfaView.COUNTER_START) - 1);
    }
  }

  @Test
  void a_doorbell_of_efa_for_more_than_a_batch_puts_the_queue_pair_into_error() {
    try (Pair pair = new Pair()) {
      pair.world.store64(0, pair.a.queuePair.doorbellAddress(), 17);
      pair.world.settle();
      assertThat(pair.a.queuePair.state()).isEqualTo(QueuePairState.ERR);
    }
  }

  /** 16 bits of the count say 65534 requests then. */
  @Test
  void a_doorbell_of_efa_that_falls_back_flushes_one_request_that_is_not_there() {
    try (Pair pair = new Pair()) {
      for (int i = 0; i < 3; i++) {
        pair.a.rdmaWrite(pair.b, 0, 0, 8).post();
        assertThat(pair.a.pollSend().isError()).isFalse();
      }
      pair.world.store64(0, pair.a.queuePair.doorbellAddress(), 1);
      pair.world.store64(0, pair.a.queuePair.doorbellAddress(), 2);
      pair.world.settle();
      assertThat(pair.a.queuePair.state()).isEqualTo(QueuePairState.ERR);
      assertThat(pair.a.pollSend().syndrome()).isEqualTo(Syndrome.FLUSHED);
      assertThat(RawMemory.getLong(pair.described(8))).isOne();
    }
  }

  @Test
  void a_doorbell_of_efa_in_front_of_its_work_request_is_an_error_completion() {
    try (Pair pair = new Pair()) {
      pair.world.store64(0, pair.a.queuePair.doorbellAddress(), 1);
      Endpoint.Completion completion = pair.a.pollSend();
      assertThat(completion.isError()).isTrue();
      assertThat(completion.syndrome()).isEqualTo(Syndrome.LOCAL_QP_OPERATION);
    }
  }

  @Test
  void efa_refuses_a_wrong_key_and_flushes_what_is_behind() {
    try (Pair pair = new Pair()) {
      pair.a
          .wqe(Opcode.RDMA_WRITE)
          .remote(pair.b.address(0), pair.b.region.rkey() + 1)
          .local(0, MESSAGE)
          .post();
      Endpoint.Completion first = pair.a.pollSend();
      assertThat(first.syndrome()).isEqualTo(Syndrome.REMOTE_ACCESS);
      pair.a.rdmaWrite(pair.b, 0, 0, 8).post();
      assertThat(pair.a.pollSend().syndrome()).isEqualTo(Syndrome.FLUSHED);
      assertThat(RawMemory.getLong(pair.described(8))).isEqualTo(2);
    }
  }

  @Test
  void both_ends_write_at_once() {
    try (Pair pair = new Pair()) {
      for (int turn = 0; turn < 40; turn++) {
        byte[] there = bytes(turn, MESSAGE);
        byte[] back = bytes(turn + 100, MESSAGE);
        pair.a.buffer.putBytes(0, there);
        pair.b.buffer.putBytes(0, back);
        pair.a.rdmaWrite(pair.b, 0, 4096, MESSAGE).post();
        pair.b.rdmaWrite(pair.a, 0, 4096, MESSAGE).post();
        assertThat(pair.a.pollSend().isError()).isFalse();
        assertThat(pair.b.pollSend().isError()).isFalse();
        assertThat(pair.b.buffer.getBytes(4096, MESSAGE)).isEqualTo(there);
        assertThat(pair.a.buffer.getBytes(4096, MESSAGE)).isEqualTo(back);
      }
    }
  }

  @Test
  void a_silent_peer_ends_each_request_with_an_error() {
    try (Pair pair = new Pair(IMPATIENT)) {
      pair.b.queuePair.toReset();
      pair.a.rdmaWrite(pair.b, 0, 64, 8).write();
      pair.a.rdmaWrite(pair.b, 0, 64, 8).post();
      assertThat(pair.a.pollSend().isError()).isTrue();
      assertThat(pair.a.pollSend().isError()).isTrue();
      pair.world.settle();
      assertThat(pair.a.queuePair.state()).isEqualTo(QueuePairState.ERR);
    }
  }

  @Test
  void a_connection_that_broke_works_again_after_reset_on_both_sides() {
    try (Pair pair = new Pair(IMPATIENT)) {
      pair.b.queuePair.toReset();
      pair.a.rdmaWrite(pair.b, 0, 64, 8).post();
      assertThat(pair.a.pollSend().isError()).isTrue();
      for (Endpoint end : new Endpoint[] {pair.a, pair.b}) {
        end.queuePair.toReset();
        end.restart();
      }
      Endpoint.connect(pair.a, pair.b, IMPATIENT);
      pair.a.buffer.putLong(0, 17);
      pair.a.rdmaWrite(pair.b, 0, 64, 8).post();
      pair.world.settle();
      assertThat(pair.b.buffer.getLong(64)).isEqualTo(17);
      assertThat(pair.a.queuePair.state()).isEqualTo(QueuePairState.RTS);
    }
  }

  @Test
  void a_wrong_key_writes_nothing_and_ends_what_is_behind() {
    try (Pair pair = new Pair()) {
      pair.a.buffer.putLong(0, 17);
      pair.a
          .wqe(Opcode.RDMA_WRITE)
          .remote(pair.b.address(64), pair.b.region.rkey() ^ 0x5500)
          .local(0, Long.BYTES)
          .post();
      assertThat(pair.a.pollSend().isError()).isTrue();
      pair.a.rdmaWrite(pair.b, 0, 64, 8).post();
      assertThat(pair.a.pollSend().isError()).isTrue();
      pair.world.settle();
      assertThat(pair.b.buffer.getLong(64)).isZero();
      assertThat(pair.a.queuePair.state()).isEqualTo(QueuePairState.ERR);
    }
  }
}
