package dev.doorbell.softhca;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.doorbell.core.hca.AccessRight;
import dev.doorbell.core.hca.AsyncEvent;
import dev.doorbell.core.hca.CompletionQueueAttributes;
import dev.doorbell.core.hca.ConnectionAttributes;
import dev.doorbell.core.hca.HcaException;
import dev.doorbell.core.hca.MemoryRegion;
import dev.doorbell.core.hca.ProtectionDomain;
import dev.doorbell.core.hca.QueuePair;
import dev.doorbell.core.hca.QueuePairState;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.mlx5.ControlSegment;
import dev.doorbell.core.mlx5.Cqe;
import dev.doorbell.core.mlx5.Opcode;
import dev.doorbell.core.mlx5.Syndrome;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.EnumSet;
import java.util.Random;
import java.util.Set;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What every {@link dev.doorbell.core.hca.Hca} has to do, whatever it is made of. A back end
 * extends this class and provides the world.
 */
public abstract class HcaContractTest {
  private static final Endpoint.Shape USUAL = Endpoint.Shape.usual();

  private HcaWorld world;

  /** A fresh pair of connected HCAs. */
  protected abstract HcaWorld newWorld();

  @BeforeEach
  void open() {
    world = newWorld();
  }

  @AfterEach
  void close() {
    world.close();
  }

  private Endpoint[] pair() {
    return pair(USUAL, USUAL);
  }

  private Endpoint[] pair(Endpoint.Shape first, Endpoint.Shape second) {
    Endpoint a = new Endpoint(world, 0, first);
    Endpoint b = new Endpoint(world, 1, second);
    Endpoint.connect(a, b);
    return new Endpoint[] {a, b};
  }

  private static byte[] noise(long seed, int bytes) {
    byte[] noise = new byte[bytes];
    new Random(seed).nextBytes(noise);
    return noise;
  }

  private static void assertSuccess(Endpoint.Completion completion, int opcode, long index) {
    assertThat(completion.opcode()).as("CQE opcode of %s", completion).isEqualTo(Cqe.REQUESTER);
    assertThat(completion.wqeOpcode()).isEqualTo(opcode);
    assertThat(completion.counter()).isEqualTo((int) index & 0xffff);
  }

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
    assertThat(world.hca(0).pollAsyncEvent())
        .isEqualTo(new AsyncEvent(AsyncEvent.Type.CQ_ERROR, ends[0].sendQueue.number()));
    for (int i = 12; i < 16; i++) {
      assertSuccess(ends[0].pollSend(), Opcode.RDMA_WRITE, i);
    }
  }

  @Test
  void wait_holds_the_queue_until_the_other_queues_completion() {
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

  // Errors.

  /** A way to post a request that must fail. */
  enum Fault {
    REMOTE_KEY(Syndrome.REMOTE_ACCESS),
    REMOTE_BOUNDS(Syndrome.REMOTE_ACCESS),
    REMOTE_BELOW(Syndrome.REMOTE_ACCESS),
    REMOTE_RIGHT_WRITE(Syndrome.REMOTE_ACCESS),
    REMOTE_RIGHT_READ(Syndrome.REMOTE_ACCESS),
    REMOTE_RIGHT_ATOMIC(Syndrome.REMOTE_ACCESS),
    REMOTE_DOMAIN(Syndrome.REMOTE_ACCESS),
    QUEUE_PAIR_RIGHT(Syndrome.REMOTE_INVALID_REQUEST),
    ATOMIC_ALIGNMENT(Syndrome.REMOTE_INVALID_REQUEST),
    LOCAL_KEY(Syndrome.LOCAL_PROTECTION),
    LOCAL_BOUNDS(Syndrome.LOCAL_PROTECTION),
    LOCAL_RIGHT(Syndrome.LOCAL_PROTECTION),
    LOCAL_DOMAIN(Syndrome.LOCAL_PROTECTION),
    CLOSED_REGION(Syndrome.LOCAL_PROTECTION),
    OPCODE(Syndrome.LOCAL_QP_OPERATION),
    DS_ZERO(Syndrome.LOCAL_QP_OPERATION),
    DS_TOO_SMALL(Syndrome.LOCAL_QP_OPERATION),
    DS_PAST_DOORBELL(Syndrome.LOCAL_QP_OPERATION),
    INDEX(Syndrome.LOCAL_QP_OPERATION),
    NUMBER(Syndrome.LOCAL_QP_OPERATION),
    INLINE_READ(Syndrome.LOCAL_QP_OPERATION),
    ATOMIC_LENGTH(Syndrome.LOCAL_LENGTH),
    WAIT_UNKNOWN_QUEUE(Syndrome.LOCAL_QP_OPERATION);

    final int syndrome;

    Fault(int syndrome) {
      this.syndrome = syndrome;
    }
  }

  private Endpoint.Wqe faulty(Fault fault, Endpoint a, Endpoint b) {
    long target = b.address(0);
    int rkey = b.region.rkey();
    Set<AccessRight> local = EnumSet.of(AccessRight.LOCAL_WRITE);
    return switch (fault) {
      case REMOTE_KEY -> a.wqe(Opcode.RDMA_WRITE).remote(target, rkey ^ 1).local(0, 64);
      case REMOTE_BOUNDS ->
          a.wqe(Opcode.RDMA_WRITE).remote(b.address(b.buffer.size() - 63), rkey).local(0, 64);
      case REMOTE_BELOW -> a.wqe(Opcode.RDMA_WRITE).remote(target - 1, rkey).local(0, 64);
      case REMOTE_RIGHT_WRITE -> {
        MemoryRegion region = b.domain.register(b.buffer, local);
        yield a.wqe(Opcode.RDMA_WRITE).remote(target, region.rkey()).local(0, 64);
      }
      case REMOTE_RIGHT_READ -> {
        MemoryRegion region = b.domain.register(b.buffer, local);
        yield a.wqe(Opcode.RDMA_READ).remote(target, region.rkey()).local(0, 64);
      }
      case REMOTE_RIGHT_ATOMIC -> {
        MemoryRegion region = b.domain.register(b.buffer, local);
        yield a.wqe(Opcode.ATOMIC_FA).remote(target, region.rkey()).atomic(1, 0).local(0, 8);
      }
      case REMOTE_DOMAIN -> {
        ProtectionDomain other = world.hca(1).allocateProtectionDomain();
        MemoryRegion region = other.register(b.buffer, Endpoint.ALL);
        yield a.wqe(Opcode.RDMA_WRITE).remote(target, region.rkey()).local(0, 64);
      }
      case QUEUE_PAIR_RIGHT -> a.wqe(Opcode.RDMA_READ).remote(target, rkey).local(0, 64);
      case ATOMIC_ALIGNMENT ->
          a.wqe(Opcode.ATOMIC_FA).remote(target + 4, rkey).atomic(1, 0).local(0, 8);
      case LOCAL_KEY ->
          a.wqe(Opcode.RDMA_WRITE).remote(target, rkey).data(64, 0x7700, a.address(0));
      case LOCAL_BOUNDS ->
          a.wqe(Opcode.RDMA_WRITE).remote(target, rkey).local(a.buffer.size() - 63, 64);
      case LOCAL_RIGHT -> {
        MemoryRegion region = a.domain.register(a.buffer, Set.of());
        yield a.wqe(Opcode.RDMA_READ).remote(target, rkey).data(64, region.lkey(), a.address(0));
      }
      case LOCAL_DOMAIN -> {
        ProtectionDomain other = world.hca(0).allocateProtectionDomain();
        MemoryRegion region = other.register(a.buffer, Endpoint.ALL);
        yield a.wqe(Opcode.RDMA_WRITE).remote(target, rkey).data(64, region.lkey(), a.address(0));
      }
      case CLOSED_REGION -> {
        MemoryRegion region = a.domain.register(a.buffer, Endpoint.ALL);
        int lkey = region.lkey();
        region.close();
        yield a.wqe(Opcode.RDMA_WRITE).remote(target, rkey).data(64, lkey, a.address(0));
      }
      case OPCODE -> a.wqe(0x2c).remote(target, rkey).local(0, 64);
      case DS_ZERO -> a.rdmaWrite(b, 0, 0, 64).ds(0);
      case DS_TOO_SMALL -> a.rdmaWrite(b, 0, 0, 64).ds(1);
      case DS_PAST_DOORBELL -> a.rdmaWrite(b, 0, 0, 64).ds(63);
      case INDEX -> a.rdmaWrite(b, 0, 0, 64).wrongIndex(1);
      case NUMBER -> a.rdmaWrite(b, 0, 0, 64).wrongNumber(1);
      case INLINE_READ -> a.wqe(Opcode.RDMA_READ).remote(target, rkey).inline(new byte[8]);
      case ATOMIC_LENGTH -> a.wqe(Opcode.ATOMIC_FA).remote(target, rkey).atomic(1, 0).local(0, 4);
      case WAIT_UNKNOWN_QUEUE -> a.wqe(Opcode.WAIT).waitFor(0, 0xfffff0);
    };
  }

  @ParameterizedTest
  @EnumSource(Fault.class)
  void a_faulty_request_fails_with_its_syndrome_writes_nothing_and_flushes_the_rest(Fault fault) {
    Set<AccessRight> rights =
        fault == Fault.QUEUE_PAIR_RIGHT
            ? EnumSet.of(AccessRight.LOCAL_WRITE, AccessRight.REMOTE_WRITE)
            : Endpoint.ALL;
    Endpoint[] ends = pair(USUAL, USUAL.withRights(Endpoint.ALL, rights));
    Endpoint[] others = pair();
    byte[] before = noise(8, (int) ends[1].buffer.size());
    ends[1].buffer.putBytes(0, before);
    byte[] own = noise(9, (int) ends[0].buffer.size());
    ends[0].buffer.putBytes(0, own);
    ends[0].wqe(Opcode.NOP).write();
    long failing = faulty(fault, ends[0], ends[1]).flags(0).write();
    ends[0].rdmaWrite(ends[1], 0, 512, 64).write();
    ends[0].wqe(Opcode.NOP).post();
    assertSuccess(ends[0].pollSend(), Opcode.NOP, 0);
    Endpoint.Completion error = ends[0].pollSend();
    assertThat(error.opcode()).isEqualTo(Cqe.REQUESTER_ERROR);
    assertThat(error.syndrome()).as("%s", error).isEqualTo(fault.syndrome);
    assertThat(error.counter()).isEqualTo((int) failing);
    for (int i = 0; i < 2; i++) {
      Endpoint.Completion flush = ends[0].pollSend();
      assertThat(flush.opcode()).isEqualTo(Cqe.REQUESTER_ERROR);
      assertThat(flush.syndrome()).as("flush %d", i).isEqualTo(Syndrome.FLUSHED);
      assertThat(flush.counter()).isEqualTo((int) failing + 1 + i);
    }
    assertThat(ends[0].queuePair.state()).isEqualTo(QueuePairState.ERR);
    world.settle();
    assertThat(ends[0].hasSendCompletion()).isFalse();
    assertThat(ends[1].buffer.getBytes(0, before.length)).isEqualTo(before);
    assertThat(ends[0].buffer.getBytes(0, own.length)).isEqualTo(own);
    ends[0].wqe(Opcode.NOP).post();
    assertThat(ends[0].pollSend().syndrome()).isEqualTo(Syndrome.FLUSHED);
    others[0].rdmaWrite(others[1], 0, 0, 4096).post();
    assertSuccess(others[0].pollSend(), Opcode.RDMA_WRITE, 0);
  }

  @ParameterizedTest
  @CsvSource({
    "REMOTE_KEY, QP_ACCESS_ERROR",
    "REMOTE_BOUNDS, QP_ACCESS_ERROR",
    "ATOMIC_ALIGNMENT, QP_REQUEST_ERROR"
  })
  void the_responder_of_a_bad_request_is_in_error_and_says_so(Fault fault, AsyncEvent.Type type) {
    Endpoint[] ends = pair();
    ends[1].postReceive(0, 64);
    faulty(fault, ends[0], ends[1]).post();
    assertThat(ends[0].pollSend().syndrome()).isEqualTo(fault.syndrome);
    world.settle();
    assertThat(ends[1].queuePair.state()).isEqualTo(QueuePairState.ERR);
    assertThat(world.hca(1).pollAsyncEvent())
        .isEqualTo(new AsyncEvent(type, ends[1].queuePair.number()));
    assertThat(world.hca(1).pollAsyncEvent()).isNull();
    Endpoint.Completion receive = ends[1].pollReceive();
    assertThat(receive.opcode()).isEqualTo(Cqe.RESPONDER_ERROR);
    assertThat(receive.syndrome()).isEqualTo(Syndrome.FLUSHED);
  }

  @Test
  void a_send_longer_than_the_receive_fails_on_both_sides() {
    Endpoint[] ends = pair();
    ends[1].postReceive(0, 10);
    ends[0].wqe(Opcode.SEND).local(0, 11).post();
    assertThat(ends[0].pollSend().syndrome()).isEqualTo(Syndrome.REMOTE_INVALID_REQUEST);
    assertThat(ends[1].pollReceive().syndrome()).isEqualTo(Syndrome.LOCAL_LENGTH);
  }

  @Test
  void a_receive_with_a_wrong_key_fails_on_both_sides() {
    Endpoint[] ends = pair();
    ends[1].postReceive(64, 0x4400, ends[1].address(0));
    ends[0].wqe(Opcode.SEND).local(0, 64).post();
    assertThat(ends[0].pollSend().syndrome()).isEqualTo(Syndrome.REMOTE_OPERATION);
    assertThat(ends[1].pollReceive().syndrome()).isEqualTo(Syndrome.LOCAL_PROTECTION);
  }

  @Test
  void a_receive_that_ends_with_the_invalid_key_takes_nothing() {
    Endpoint[] ends = pair();
    ends[1].postReceive(64, 0x100, ends[1].address(0));
    ends[0].wqe(Opcode.SEND).local(0, 8).post();
    assertThat(ends[0].pollSend().syndrome()).isEqualTo(Syndrome.REMOTE_INVALID_REQUEST);
    assertThat(ends[1].pollReceive().syndrome()).isEqualTo(Syndrome.LOCAL_LENGTH);
  }

  @Test
  void an_error_in_the_middle_lets_what_is_before_it_complete_first() {
    Endpoint[] ends = pair();
    byte[] payload = noise(6, 50_000);
    ends[0].buffer.putBytes(0, payload);
    ends[0].rdmaWrite(ends[1], 0, 0, 50_000).write();
    ends[0]
        .wqe(Opcode.RDMA_READ)
        .remote(ends[1].address(0), ends[1].region.rkey())
        .local(100_000, 50_000)
        .write();
    faulty(Fault.LOCAL_KEY, ends[0], ends[1]).post();
    assertSuccess(ends[0].pollSend(), Opcode.RDMA_WRITE, 0);
    assertSuccess(ends[0].pollSend(), Opcode.RDMA_READ, 1);
    assertThat(ends[0].pollSend().syndrome()).isEqualTo(Syndrome.LOCAL_PROTECTION);
    world.settle();
    assertThat(ends[0].buffer.getBytes(100_000, 50_000)).isEqualTo(payload);
  }

  // State machine.

  @ParameterizedTest
  @CsvSource({
    "RESET, INIT RESET",
    "INIT, RTR ERR RESET",
    "RTR, RTS ERR RESET",
    "RTS, ERR RESET",
    "ERR, ERR RESET"
  })
  void only_legal_transitions_are_made(QueuePairState from, String legal) {
    Set<String> allowed = Set.of(legal.split(" "));
    for (QueuePairState to : QueuePairState.values()) {
      Endpoint a = new Endpoint(world, 0, USUAL);
      Endpoint b = new Endpoint(world, 1, USUAL);
      bring(a.queuePair, from, b.queuePair);
      Consumer<QueuePair> move = queuePair -> move(queuePair, to, b.queuePair);
      if (allowed.contains(to.name())) {
        move.accept(a.queuePair);
        assertThat(a.queuePair.state()).isEqualTo(to);
      } else {
        assertThatThrownBy(() -> move.accept(a.queuePair))
            .as("%s to %s", from, to)
            .isInstanceOf(HcaException.class)
            .hasMessageContaining(from.name())
            .hasMessageContaining(to.name());
        assertThat(a.queuePair.state()).isEqualTo(from);
      }
      a.close();
      b.close();
    }
  }

  private static void bring(QueuePair queuePair, QueuePairState state, QueuePair peer) {
    for (QueuePairState step : QueuePairState.values()) {
      if (step != QueuePairState.RESET && step.compareTo(state) <= 0) {
        move(queuePair, step, peer);
      }
    }
  }

  private static void move(QueuePair queuePair, QueuePairState to, QueuePair peer) {
    switch (to) {
      case RESET -> queuePair.toReset();
      case INIT -> queuePair.toInit(Endpoint.ALL);
      case RTR -> queuePair.toRtr(peer.address(), ConnectionAttributes.DEFAULT);
      case RTS -> queuePair.toRts(ConnectionAttributes.DEFAULT);
      case ERR -> queuePair.toError();
    }
  }

  @Test
  void to_error_flushes_what_waits_and_reset_begins_again() {
    Endpoint[] ends = pair();
    ends[0].wqe(Opcode.SEND).local(0, 8).post();
    world.settle();
    ends[0].queuePair.toError();
    assertThat(ends[0].pollSend().syndrome()).isEqualTo(Syndrome.FLUSHED);
    for (Endpoint end : ends) {
      end.queuePair.toReset();
      end.restart();
    }
    Endpoint.connect(ends[0], ends[1]);
    ends[0].buffer.putLong(0, 5);
    ends[0].rdmaWrite(ends[1], 0, 64, 8).post();
    assertSuccess(ends[0].pollSend(), Opcode.RDMA_WRITE, 0);
    world.settle();
    assertThat(ends[1].buffer.getLong(64)).isEqualTo(5);
  }

  @Test
  void connecting_to_nobody_is_explained() {
    Endpoint a = new Endpoint(world, 0, USUAL);
    a.queuePair.toInit(Endpoint.ALL);
    assertThatThrownBy(
            () ->
                a.queuePair.toRtr(
                    new dev.doorbell.core.hca.QueuePairAddress("nobody", 1, 0, 1024),
                    ConnectionAttributes.DEFAULT))
        .isInstanceOf(HcaException.class)
        .hasMessageContaining("nobody");
    assertThat(a.queuePair.state()).isEqualTo(QueuePairState.INIT);
  }

  // Objects.

  @ParameterizedTest
  @CsvSource({
    "DEVICE, DEVICE, DEVICE",
    "DEVICE, DEVICE, HOST",
    "DEVICE, HOST, DEVICE",
    "DEVICE, HOST, HOST",
    "HOST, DEVICE, DEVICE",
    "HOST, DEVICE, HOST",
    "HOST, HOST, DEVICE",
    "HOST, HOST, HOST"
  })
  void queues_work_wherever_they_are_placed(MemoryKind rings, MemoryKind record, MemoryKind cq) {
    org.junit.jupiter.api.Assumptions.assumeTrue(
        world.deviceMemoryIsAddressable(), "the test posts from the CPU; GPU memory is not mapped");
    Endpoint.Shape shape =
        USUAL
            .withPlaces(rings, record)
            .withCompletions(CompletionQueueAttributes.ring(64, cq))
            .withSendBlocks(16);
    Endpoint[] ends = pair(shape, shape);
    new RandomTraffic(world, ends[0], ends[1], 77).run(40);
  }

  @Test
  void on_chip_memory_serves_as_payload_and_runs_out() {
    long total = world.hca(0).attributes().onChipBytes();
    org.junit.jupiter.api.Assumptions.assumeTrue(total > 0, "no on-chip memory");
    Endpoint[] ends = pair();
    Memory chip = ends[0].domain.allocateOnChip(total / 2);
    assertThat(chip.kind()).isEqualTo(MemoryKind.NIC);
    MemoryRegion region = ends[0].domain.register(chip, Endpoint.ALL);
    byte[] payload = noise(4, 9_000);
    chip.putBytes(0, payload);
    ends[0]
        .wqe(Opcode.RDMA_WRITE)
        .remote(ends[1].address(0), ends[1].region.rkey())
        .data(9_000, region.lkey(), chip.address())
        .post();
    assertSuccess(ends[0].pollSend(), Opcode.RDMA_WRITE, 0);
    world.settle();
    assertThat(ends[1].buffer.getBytes(0, 9_000)).isEqualTo(payload);
    Memory rest = ends[0].domain.allocateOnChip(total - total / 2);
    assertThatThrownBy(() -> ends[0].domain.allocateOnChip(1))
        .isInstanceOf(HcaException.class)
        .hasMessageContaining("0 of " + total);
    assertThatThrownBy(chip::close)
        .isInstanceOf(HcaException.class)
        .hasMessageContaining("memory region");
    region.close();
    chip.close();
    rest.close();
    ends[0].domain.allocateOnChip(total).close();
  }

  @Test
  void objects_close_only_after_those_that_need_them() {
    Endpoint a = new Endpoint(world, 0, USUAL);
    assertThatThrownBy(a.sendQueue::close)
        .isInstanceOf(HcaException.class)
        .hasMessageContaining("queue pairs first");
    assertThatThrownBy(a.domain::close)
        .isInstanceOf(HcaException.class)
        .hasMessageContaining("queue pair 0x%x".formatted(a.queuePair.number()));
    a.close();
    a.close();
  }

  @Test
  void impossible_objects_are_refused() {
    ProtectionDomain domain = world.hca(0).allocateProtectionDomain();
    Memory memory = world.memory(0).allocate(MemoryKind.HOST, 4096, "refused");
    assertThatThrownBy(() -> domain.register(memory, 4000, 97, Endpoint.ALL))
        .isInstanceOf(HcaException.class)
        .hasMessageContaining("4096");
    assertThatThrownBy(() -> domain.register(memory, EnumSet.of(AccessRight.REMOTE_WRITE)))
        .isInstanceOf(HcaException.class)
        .hasMessageContaining("LOCAL_WRITE");
    assertThatThrownBy(
            () ->
                domain.createCompletionQueue(
                    CompletionQueueAttributes.ring(3, MemoryKind.HOST), world.memory(0)))
        .isInstanceOf(HcaException.class)
        .hasMessageContaining("power of two");
    assertThatThrownBy(() -> new Endpoint(world, 0, USUAL.withSendBlocks(65_536)))
        .isInstanceOf(HcaException.class)
        .hasMessageContaining("power of two");
    memory.close();
  }
}
