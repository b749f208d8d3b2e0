package dev.doorbell.softhca;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.contract.Endpoint;
import dev.doorbell.core.hca.AsyncEvent;
import dev.doorbell.core.hca.ConnectionAttributes;
import dev.doorbell.core.hca.Transport;
import dev.doorbell.core.mlx5.ControlSegment;
import dev.doorbell.core.mlx5.Opcode;
import dev.doorbell.core.mlx5.Syndrome;
import dev.doorbell.core.roce.BthOpcode;
import java.util.Random;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What packets go over the wire, and when, after chosen ones are lost. */
class TransportTest {
  private static final int MTU = 256;
  private static final long TIMEOUT_14 = 4_096L << 14;
  private static final Endpoint.Shape USUAL = Endpoint.Shape.usual();

  /** InfiniBand specification, table 45, in microseconds. */
  private static final long[] RNR_MICROS = {
    655_360, 10, 20, 30, 40, 60, 80, 120, 160, 240, 320, 480, 640, 960, 1_280, 1_920, 2_560, 3_840,
    5_120, 7_680, 10_240, 15_360, 20_480, 30_720, 40_960, 61_440, 81_920, 122_880, 163_840, 245_760,
    327_680, 491_520
  };

  private final SteppedWorld world = SteppedWorld.withMtu(MTU);

  @AfterEach
  void close() {
    world.close();
  }

  private Endpoint[] pair(ConnectionAttributes attributes) {
    return pair(USUAL, attributes);
  }

  private Endpoint[] pair(Endpoint.Shape shape, ConnectionAttributes attributes) {
    Endpoint a = new Endpoint(world, 0, shape);
    Endpoint b = new Endpoint(world, 1, shape);
    Endpoint.connect(a, b, attributes);
    return new Endpoint[] {a, b};
  }

  private static ConnectionAttributes retries(int count) {
    return new ConnectionAttributes(14, count, 7, 12, 16, 16, 0);
  }

  private void lose(Integer... numbers) {
    Set<Integer> chosen = Set.of(numbers);
    world.wire.lose(chosen::contains);
  }

  private static byte[] fill(Endpoint end, int bytes) {
    byte[] payload = new byte[bytes];
    new Random(bytes).nextBytes(payload);
    end.buffer.putBytes(0, payload);
    return payload;
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2, 7})
  void a_silent_peer_is_given_up_after_so_many_retries_and_timeouts(int retries) {
    Endpoint[] ends = pair(retries(retries));
    world.wire.lose(number -> true);
    long start = world.fabric.now();
    ends[0].rdmaWrite(ends[1], 0, 64, 8).post();
    assertThat(ends[0].pollSend().syndrome()).isEqualTo(Syndrome.TRANSPORT_RETRY_EXCEEDED);
    assertThat(world.wire.opcodes).hasSize(retries + 1).containsOnly(BthOpcode.WRITE_ONLY);
    assertThat(world.fabric.now() - start).isEqualTo((retries + 1) * TIMEOUT_14);
  }

  @Test
  void without_a_timeout_a_silent_peer_is_waited_for_without_end() {
    Endpoint[] ends = pair(new ConnectionAttributes(0, 7, 7, 12, 16, 16, 0));
    world.wire.lose(number -> true);
    ends[0].rdmaWrite(ends[1], 0, 64, 8).post();
    assertThat(world.runUntil(ends[0]::hasSendCompletion)).isFalse();
    assertThat(world.wire.opcodes).hasSize(1);
  }

  @Test
  void a_packet_lost_in_mid_message_is_sent_again_with_the_opcode_of_its_place() {
    Endpoint[] ends = pair(retries(7));
    byte[] payload = fill(ends[0], 4 * MTU);
    lose(1);
    ends[0].rdmaWrite(ends[1], 0, 5_000, 4 * MTU).post();
    assertThat(ends[0].pollSend().isError()).isFalse();
    assertThat(world.wire.opcodes)
        .containsSequence(
            BthOpcode.WRITE_FIRST,
            BthOpcode.WRITE_MIDDLE,
            BthOpcode.WRITE_MIDDLE,
            BthOpcode.WRITE_LAST);
    // All four, the NAK, and from the lost one on once more.
    assertThat(world.wire.opcodes.stream().filter(o -> o == BthOpcode.WRITE_FIRST)).hasSize(1);
    assertThat(world.wire.opcodes.stream().filter(o -> o == BthOpcode.WRITE_MIDDLE)).hasSize(4);
    assertThat(world.wire.opcodes.stream().filter(o -> o == BthOpcode.WRITE_LAST)).hasSize(2);
    assertThat(ends[1].buffer.getBytes(5_000, 4 * MTU)).isEqualTo(payload);
  }

  @Test
  void a_read_that_was_answered_in_part_is_asked_for_the_rest() {
    Endpoint[] ends = pair(retries(7));
    byte[] payload = fill(ends[1], 4 * MTU);
    lose(3);
    ends[0]
        .wqe(Opcode.RDMA_READ)
        .remote(ends[1].address(0), ends[1].region.rkey())
        .local(5_000, 4 * MTU)
        .post();
    assertThat(ends[0].pollSend().isError()).isFalse();
    assertThat(ends[0].buffer.getBytes(5_000, 4 * MTU)).isEqualTo(payload);
    assertThat(world.wire.opcodes)
        .containsExactly(
            BthOpcode.READ_REQUEST,
            BthOpcode.READ_RESPONSE_FIRST,
            BthOpcode.READ_RESPONSE_MIDDLE,
            BthOpcode.READ_RESPONSE_MIDDLE,
            BthOpcode.READ_RESPONSE_LAST,
            BthOpcode.READ_REQUEST,
            BthOpcode.READ_RESPONSE_FIRST,
            BthOpcode.READ_RESPONSE_LAST);
    int first = world.wire.psns.getFirst();
    assertThat(world.wire.psns.get(5)).isEqualTo(first + 2 & 0xffffff);
    assertThat(world.wire.psns.getLast()).isEqualTo(first + 3 & 0xffffff);
  }

  @Test
  void an_atomic_whose_answer_was_lost_is_answered_again_and_not_done_again() {
    Endpoint[] ends = pair(retries(7));
    ends[1].buffer.putLong(64, 40);
    lose(1);
    ends[0]
        .wqe(Opcode.ATOMIC_FA)
        .remote(ends[1].address(64), ends[1].region.rkey())
        .atomic(2, 0)
        .local(0, 8)
        .post();
    assertThat(ends[0].pollSend().isError()).isFalse();
    assertThat(ends[0].buffer.getLong(0)).isEqualTo(40);
    assertThat(ends[1].buffer.getLong(64)).isEqualTo(42);
    assertThat(world.wire.opcodes)
        .containsExactly(
            BthOpcode.FETCH_ADD,
            BthOpcode.ATOMIC_ACKNOWLEDGE,
            BthOpcode.FETCH_ADD,
            BthOpcode.ATOMIC_ACKNOWLEDGE);
  }

  @Test
  void an_acknowledgement_that_was_lost_is_repeated_and_the_write_is_not() {
    Endpoint[] ends = pair(retries(7));
    lose(1);
    ends[0].buffer.putLong(0, 1);
    ends[0].rdmaWrite(ends[1], 0, 64, 8).post();
    world.run(1_000);
    ends[1].buffer.putLong(64, 2);
    assertThat(ends[0].pollSend().isError()).isFalse();
    assertThat(ends[1].buffer.getLong(64)).as("not written twice").isEqualTo(2);
  }

  @Test
  void progress_gives_all_retries_back() {
    Endpoint[] ends = pair(retries(1));
    lose(0, 3, 6, 9);
    for (int i = 0; i < 4; i++) {
      ends[0].rdmaWrite(ends[1], 0, 64, 8).post();
      assertThat(ends[0].pollSend().isError()).as("write %d", i).isFalse();
    }
  }

  static IntStream timers() {
    return IntStream.range(0, RNR_MICROS.length);
  }

  @ParameterizedTest
  @MethodSource("timers")
  void a_receiver_that_is_not_ready_is_left_alone_as_long_as_it_asks(int code) {
    Endpoint[] ends = pair(new ConnectionAttributes(0, 7, 2, code, 16, 16, 0));
    long start = world.fabric.now();
    ends[0].wqe(Opcode.SEND).local(0, 8).post();
    assertThat(ends[0].pollSend().syndrome()).isEqualTo(Syndrome.RNR_RETRY_EXCEEDED);
    assertThat(world.fabric.now() - start).isEqualTo(2 * RNR_MICROS[code] * 1_000);
  }

  @Test
  void no_more_questions_are_open_than_the_connection_allows() {
    Endpoint[] ends = pair(new ConnectionAttributes(14, 7, 7, 12, 3, 3, 0));
    world.wire.lose(number -> number < 3);
    for (int i = 0; i < 10; i++) {
      ends[0]
          .wqe(Opcode.RDMA_READ)
          .remote(ends[1].address(8L * i), ends[1].region.rkey())
          .local(8L * i, 8)
          .write();
    }
    ends[0].record();
    ends[0].ring();
    world.run(TIMEOUT_14 - 1);
    assertThat(world.wire.opcodes).hasSize(3).containsOnly(BthOpcode.READ_REQUEST);
    for (int i = 0; i < 10; i++) {
      assertThat(ends[0].pollSend().isError()).isFalse();
    }
  }

  @Test
  void a_cable_that_is_out_for_a_while_costs_retries_and_nothing_else() {
    Endpoint[] ends = pair(retries(7));
    world.soft(1).linkUp(false);
    assertThat(world.hca(1).pollAsyncEvent())
        .isEqualTo(new AsyncEvent(AsyncEvent.Type.PORT_ERROR, 1));
    ends[0].buffer.putLong(0, 4);
    ends[0].rdmaWrite(ends[1], 0, 64, 8).post();
    world.run(3 * TIMEOUT_14);
    world.soft(1).linkUp(true);
    assertThat(world.hca(1).pollAsyncEvent())
        .isEqualTo(new AsyncEvent(AsyncEvent.Type.PORT_ACTIVE, 1));
    assertThat(ends[0].pollSend().isError()).isFalse();
    assertThat(ends[1].buffer.getLong(64)).isEqualTo(4);
  }

  @Test
  void acknowledgements_stand_for_all_messages_of_a_step() {
    Endpoint[] ends = pair(retries(7));
    for (int i = 0; i < 20; i++) {
      ends[0].rdmaWrite(ends[1], 0, 64, 8).flags(i == 19 ? ControlSegment.CQ_UPDATE : 0).write();
    }
    ends[0].record();
    ends[0].ring();
    assertThat(ends[0].pollSend().isError()).isFalse();
    assertThat(world.wire.opcodes.stream().filter(o -> o == BthOpcode.ACKNOWLEDGE)).hasSize(1);
    assertThat(world.wire.newestMsn).isEqualTo(20);
  }

  @Test
  void an_unreliable_message_that_lost_a_packet_is_dropped_and_the_next_one_is_not() {
    Endpoint[] ends = pair(USUAL.withTransport(Transport.UC, null), retries(7));
    byte[] payload = fill(ends[0], 3 * MTU);
    lose(1);
    for (int i = 0; i < 2; i++) {
      ends[1].postReceive(10_000, 3 * MTU);
      ends[0].wqe(Opcode.SEND_IMM).immediate(i).local(0, 3 * MTU).post();
      assertThat(ends[0].pollSend().isError()).isFalse();
    }
    Endpoint.Completion only = ends[1].pollReceive();
    assertThat(only.immediate()).isEqualTo(1);
    assertThat(only.counter()).as("the first receive").isZero();
    assertThat(ends[1].buffer.getBytes(10_000, 3 * MTU)).isEqualTo(payload);
    world.settle();
    assertThat(ends[1].hasReceiveCompletion()).isFalse();
  }
}
