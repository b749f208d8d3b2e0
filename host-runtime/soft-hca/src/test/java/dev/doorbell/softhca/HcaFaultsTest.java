package dev.doorbell.softhca;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.doorbell.contract.Endpoint;
import dev.doorbell.core.fault.Fault;
import dev.doorbell.core.fault.FaultAction;
import dev.doorbell.core.fault.FaultCount;
import dev.doorbell.core.fault.FaultEvent;
import dev.doorbell.core.fault.FaultInjector;
import dev.doorbell.core.fault.FaultPlan;
import dev.doorbell.core.fault.FaultTarget;
import dev.doorbell.core.fault.FaultTrigger;
import dev.doorbell.core.hca.AsyncEvent;
import dev.doorbell.core.hca.ConnectionAttributes;
import dev.doorbell.core.hca.HcaException;
import dev.doorbell.core.hca.ProtectionDomain;
import dev.doorbell.core.hca.QueuePairState;
import dev.doorbell.core.mlx5.ControlSegment;
import dev.doorbell.core.mlx5.Opcode;
import dev.doorbell.core.mlx5.Syndrome;
import dev.doorbell.core.roce.BthOpcode;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What an application sees of each fault, on real transfers in stepped time. */
class HcaFaultsTest {
  private static final int MTU = 256;
  private static final long TIMEOUT_14 = 4_096L << 14;
  private static final long MILLI = 1_000_000;

  private final SteppedWorld world = SteppedWorld.withMtu(MTU);
  private final Endpoint.Shape usual = Endpoint.Shape.usual();
  private FaultPlan plan = FaultPlan.NONE;
  private FaultInjector injector = FaultPlan.NONE.bind(0, 0, 0);

  @AfterEach
  void close() {
    world.close();
  }

  private Endpoint[] pair() {
    Endpoint a = new Endpoint(world, 0, usual);
    Endpoint b = new Endpoint(world, 1, usual);
    Endpoint.connect(a, b, new ConnectionAttributes(14, 7, 7, 12, 16, 16, 0));
    return new Endpoint[] {a, b};
  }

  /** From now on the HCA of {@code side} has these faults. */
  private void inject(int side, Fault... faults) {
    plan = new FaultPlan(42, List.of(faults));
    injector = plan.bind(0, 0, world.fabric.now());
    world.soft(side).inject(injector);
  }

  private long fired() {
    return FaultCount.total(plan, List.of(injector)).getFirst().fired();
  }

  private static Fault at(FaultAction action, FaultEvent event, long index) {
    return Fault.of(action, event, FaultTrigger.at(index));
  }

  private static Fault packet(FaultAction action, long index) {
    return at(action, FaultEvent.PACKET_SENT, index);
  }

  private static byte[] fill(Endpoint end, int bytes) {
    byte[] payload = new byte[bytes];
    new Random(bytes).nextBytes(payload);
    end.buffer.putBytes(0, payload);
    return payload;
  }

  /** Writes four packets to the peer and sees that they arrive as they are. */
  private void writesFourPackets(Endpoint[] ends) {
    byte[] payload = fill(ends[0], 4 * MTU);
    ends[0].rdmaWrite(ends[1], 0, 5_000, 4 * MTU).post();
    assertThat(ends[0].pollSend().isError()).isFalse();
    assertThat(ends[1].buffer.getBytes(5_000, 4 * MTU)).isEqualTo(payload);
  }

  private long sent(int opcode) {
    return world.wire.opcodes.stream().filter(o -> o == opcode).count();
  }

  private void fetchAndAdd(Endpoint[] ends, long what) {
    ends[0]
        .wqe(Opcode.ATOMIC_FA)
        .remote(ends[1].address(64), ends[1].region.rkey())
        .atomic(what, 0)
        .local(0, 8)
        .post();
  }

  @Test
  void a_packet_that_is_lost_is_sent_again() {
    Endpoint[] ends = pair();
    inject(0, packet(FaultAction.LOSE, 1));
    writesFourPackets(ends);
    assertThat(fired()).isOne();
    // The lost one never came to the wire; the two behind it came twice.
    assertThat(sent(BthOpcode.WRITE_MIDDLE)).isEqualTo(3);
    assertThat(sent(BthOpcode.WRITE_LAST)).isEqualTo(2);
  }

  @Test
  void a_packet_that_is_lost_on_arrival_has_been_on_the_wire() {
    Endpoint[] ends = pair();
    inject(1, at(FaultAction.LOSE, FaultEvent.PACKET_RECEIVED, 1));
    writesFourPackets(ends);
    assertThat(fired()).isOne();
    assertThat(sent(BthOpcode.WRITE_MIDDLE)).isEqualTo(4);
  }

  @Test
  void a_fault_of_one_opcode_lets_the_others_through() {
    Endpoint[] ends = pair();
    inject(1, packet(FaultAction.LOSE, 0).onOpcode(BthOpcode.ATOMIC_ACKNOWLEDGE));
    writesFourPackets(ends);
    assertThat(fired()).isZero();
    ends[1].buffer.putLong(64, 40);
    fetchAndAdd(ends, 2);
    assertThat(ends[0].pollSend().isError()).isFalse();
    assertThat(fired()).isOne();
    assertThat(ends[1].buffer.getLong(64)).as("added once").isEqualTo(42);
  }

  @Test
  void a_packet_that_comes_twice_is_carried_out_once() {
    Endpoint[] ends = pair();
    inject(0, packet(FaultAction.DUPLICATE, 0));
    ends[1].buffer.putLong(64, 40);
    fetchAndAdd(ends, 2);
    assertThat(ends[0].pollSend().isError()).isFalse();
    world.run(MILLI);
    assertThat(ends[0].buffer.getLong(0)).isEqualTo(40);
    assertThat(ends[1].buffer.getLong(64)).isEqualTo(42);
    assertThat(sent(BthOpcode.FETCH_ADD)).isEqualTo(2);
  }

  @Test
  void a_packet_lets_as_many_others_pass_as_the_plan_says() {
    Endpoint[] ends = pair();
    inject(0, packet(FaultAction.REORDER, 1).with(2));
    writesFourPackets(ends);
    int first = world.wire.psns.getFirst();
    assertThat(world.wire.psns.subList(0, 4))
        .containsExactly(first, first + 2, first + 3, first + 1);
    assertThat(fired()).isOne();
  }

  @Test
  void a_packet_that_nobody_passes_goes_on_after_a_while() {
    Endpoint[] ends = pair();
    inject(0, packet(FaultAction.REORDER, 0).with(1));
    long start = world.fabric.now();
    ends[0].rdmaWrite(ends[1], 0, 64, 8).post();
    assertThat(ends[0].pollSend().isError()).isFalse();
    assertThat(world.fabric.now() - start).isEqualTo(100_000);
  }

  @Test
  void a_delayed_packet_holds_up_all_that_are_behind_it() {
    Endpoint[] ends = pair();
    inject(0, packet(FaultAction.DELAY, 1).lasting(MILLI));
    long start = world.fabric.now();
    writesFourPackets(ends);
    assertThat(world.fabric.now() - start).isEqualTo(MILLI);
    int first = world.wire.psns.getFirst();
    assertThat(world.wire.psns.subList(0, 4))
        .containsExactly(first, first + 1, first + 2, first + 3);
    assertThat(sent(BthOpcode.WRITE_LAST)).as("nothing was repeated").isOne();
  }

  @Test
  void a_corrupt_packet_is_thrown_away_and_sent_again() {
    Endpoint[] ends = pair();
    inject(0, packet(FaultAction.CORRUPT, 2));
    writesFourPackets(ends);
    assertThat(fired()).isOne();
    assertThat(sent(BthOpcode.WRITE_LAST)).isEqualTo(2);
  }

  @Test
  void a_wqe_fails_with_the_syndrome_of_the_plan_and_the_ones_behind_it_are_flushed() {
    Endpoint[] ends = pair();
    inject(0, at(FaultAction.CQE_ERROR, FaultEvent.WQE, 2).with(Syndrome.TRANSPORT_RETRY_EXCEEDED));
    for (int i = 0; i < 4; i++) {
      ends[0].buffer.putLong(8L * i, i + 1);
      ends[0].rdmaWrite(ends[1], 8L * i, 8L * i, 8).write();
    }
    ends[0].record();
    ends[0].ring();
    assertThat(ends[0].pollSend().isError()).isFalse();
    assertThat(ends[0].pollSend().isError()).isFalse();
    assertThat(ends[0].pollSend().syndrome()).isEqualTo(Syndrome.TRANSPORT_RETRY_EXCEEDED);
    assertThat(ends[0].pollSend().syndrome()).isEqualTo(Syndrome.FLUSHED);
    assertThat(ends[0].queuePair.state()).isEqualTo(QueuePairState.ERR);
    assertThat(ends[1].buffer.getLong(8)).isEqualTo(2);
    assertThat(ends[1].buffer.getLong(16)).as("not executed").isZero();
    assertThat(fired()).isOne();
  }

  @Test
  void a_queue_pair_that_is_put_in_error_at_a_wqe_flushes_it() {
    Endpoint[] ends = pair();
    inject(0, at(FaultAction.QP_ERROR, FaultEvent.WQE, 1));
    ends[0].buffer.putLong(0, 7);
    for (int i = 0; i < 2; i++) {
      ends[0].rdmaWrite(ends[1], 0, 64, 8).write();
    }
    ends[0].record();
    ends[0].ring();
    world.run(MILLI);
    assertThat(ends[0].queuePair.state()).isEqualTo(QueuePairState.ERR);
    assertThat(ends[0].pollSend().syndrome()).isEqualTo(Syndrome.FLUSHED);
    assertThat(ends[0].pollSend().syndrome()).isEqualTo(Syndrome.FLUSHED);
    // The first one was parsed when the second failed: it must not leave any more.
    assertThat(world.wire.opcodes).as("sent in the error state").isEmpty();
    assertThat(ends[1].buffer.getLong(64)).isZero();
  }

  @Test
  void a_queue_pair_that_is_put_in_error_at_a_packet_leaves_the_message_half_done() {
    Endpoint[] ends = pair();
    inject(0, packet(FaultAction.QP_ERROR, 1));
    byte[] payload = fill(ends[0], 64 * MTU);
    ends[0].rdmaWrite(ends[1], 0, 5_000, 64 * MTU).post();
    assertThat(ends[0].pollSend().syndrome()).isEqualTo(Syndrome.FLUSHED);
    assertThat(ends[1].buffer.getBytes(5_000, MTU))
        .isEqualTo(java.util.Arrays.copyOf(payload, MTU));
    assertThat(world.wire.opcodes).as("the packet before it").hasSize(1);
    assertThat(ends[1].queuePair.state()).isEqualTo(QueuePairState.RTS);
  }

  @Test
  void a_lost_doorbell_is_made_up_for_by_the_next_one() {
    Endpoint[] ends = pair();
    inject(0, at(FaultAction.DOORBELL_LOST, FaultEvent.DOORBELL, 0));
    ends[0].rdmaWrite(ends[1], 0, 64, 8).post();
    world.run(10 * TIMEOUT_14);
    assertThat(ends[0].hasSendCompletion()).isFalse();
    ends[0].ring();
    assertThat(ends[0].pollSend().isError()).isFalse();
    assertThat(fired()).isOne();
  }

  @Test
  void a_late_doorbell_is_heard_later() {
    Endpoint[] ends = pair();
    inject(0, at(FaultAction.DOORBELL_LATE, FaultEvent.DOORBELL, 0).lasting(5_000));
    long start = world.fabric.now();
    ends[0].rdmaWrite(ends[1], 0, 64, 8).post();
    assertThat(ends[0].pollSend().isError()).isFalse();
    assertThat(world.fabric.now() - start).isEqualTo(5_000);
  }

  @Test
  void a_doorbell_that_comes_twice_has_its_wqe_executed_once() {
    Endpoint[] ends = pair();
    inject(0, Fault.of(FaultAction.DOORBELL_TWICE, FaultEvent.DOORBELL, FaultTrigger.chance(1)));
    for (int i = 1; i <= 3; i++) {
      fetchAndAdd(ends, 1);
      assertThat(ends[0].pollSend().isError()).isFalse();
      assertThat(ends[1].buffer.getLong(64)).isEqualTo(i);
    }
    world.settle();
    assertThat(ends[0].hasSendCompletion()).isFalse();
    assertThat(fired()).isEqualTo(3);
  }

  @Test
  void behind_a_stale_record_nothing_is_found_until_the_next_doorbell() {
    Endpoint[] ends = pair();
    inject(0, at(FaultAction.RECORD_STALE, FaultEvent.DOORBELL, 1));
    ends[0].rdmaWrite(ends[1], 0, 64, 8).post();
    assertThat(ends[0].pollSend().isError()).isFalse();
    ends[0].rdmaWrite(ends[1], 0, 64, 8).post();
    world.run(TIMEOUT_14);
    assertThat(ends[0].hasSendCompletion()).isFalse();
    ends[0].rdmaWrite(ends[1], 0, 64, 8).post();
    assertThat(ends[0].pollSend().isError()).isFalse();
    assertThat(ends[0].pollSend().isError()).isFalse();
  }

  @Test
  void a_late_cqe_holds_up_those_behind_it_and_their_order_stays() {
    Endpoint[] ends = pair();
    inject(0, at(FaultAction.CQE_LATE, FaultEvent.CQE, 0).lasting(MILLI));
    long start = world.fabric.now();
    for (int i = 0; i < 3; i++) {
      ends[0].rdmaWrite(ends[1], 0, 64, 8).post();
    }
    world.run(MILLI - 1);
    assertThat(ends[0].hasSendCompletion()).isFalse();
    for (int i = 0; i < 3; i++) {
      Endpoint.Completion completion = ends[0].pollSend();
      assertThat(completion.counter()).isEqualTo(i);
      assertThat(world.fabric.now() - start).isEqualTo(MILLI);
    }
    assertThat(fired()).isOne();
  }

  @Test
  void a_link_goes_down_comes_up_again_and_the_host_is_told_of_both() {
    Endpoint[] ends = pair();
    inject(0, packet(FaultAction.LINK_DOWN, 1).lasting(3 * TIMEOUT_14));
    long start = world.fabric.now();
    writesFourPackets(ends);
    assertThat(world.fabric.now() - start).isGreaterThanOrEqualTo(3 * TIMEOUT_14);
    assertThat(world.hca(0).pollAsyncEvent())
        .isEqualTo(new AsyncEvent(AsyncEvent.Type.PORT_ERROR, 1));
    assertThat(world.hca(0).pollAsyncEvent())
        .isEqualTo(new AsyncEvent(AsyncEvent.Type.PORT_ACTIVE, 1));
    assertThat(world.hca(0).pollAsyncEvent()).isNull();
  }

  @Test
  void a_link_that_stays_down_for_too_long_ends_in_an_error() {
    Endpoint[] ends = pair();
    inject(0, at(FaultAction.LINK_DOWN, FaultEvent.WQE, 0).lasting(60_000 * MILLI));
    ends[0].rdmaWrite(ends[1], 0, 64, 8).post();
    assertThat(ends[0].pollSend().syndrome()).isEqualTo(Syndrome.TRANSPORT_RETRY_EXCEEDED);
  }

  @Test
  void a_receiver_that_is_made_to_be_not_ready_is_tried_again_after_its_timer() {
    Endpoint[] ends = pair();
    // Timer code 16: 2.56 ms.
    inject(1, at(FaultAction.RECEIVER_NOT_READY, FaultEvent.RECEIVE, 0).with(16));
    ends[1].postReceive(0, 64);
    long start = world.fabric.now();
    ends[0].wqe(Opcode.SEND).local(0, 8).post();
    assertThat(ends[0].pollSend().isError()).isFalse();
    assertThat(ends[1].pollReceive().counter()).isZero();
    assertThat(world.fabric.now() - start).isEqualTo(2_560_000);
    assertThat(fired()).isOne();
  }

  @Test
  void ends_that_disagree_about_the_mtu_end_in_a_remote_invalid_request() {
    inject(0, at(FaultAction.MTU_MISMATCH, FaultEvent.CONNECT, 0).with(1024));
    Endpoint[] ends = pair();
    ends[0].rdmaWrite(ends[1], 0, 5_000, 4 * MTU).post();
    assertThat(ends[0].pollSend().syndrome()).isEqualTo(Syndrome.REMOTE_INVALID_REQUEST);
    assertThat(ends[1].buffer.getLong(5_000)).as("nothing was written").isZero();
    assertThat(fired()).isOne();
  }

  @Test
  void packets_to_a_gid_that_is_nobodys_end_in_a_retry_error() {
    inject(0, at(FaultAction.WRONG_GID, FaultEvent.CONNECT, 0));
    Endpoint[] ends = pair();
    ends[0].rdmaWrite(ends[1], 0, 64, 8).post();
    assertThat(ends[0].pollSend().syndrome()).isEqualTo(Syndrome.TRANSPORT_RETRY_EXCEEDED);
    assertThat(world.wire.opcodes).isEmpty();
  }

  @Test
  void on_chip_memory_is_refused_as_if_there_were_none_left() {
    inject(0, at(FaultAction.MEMIC_EXHAUSTED, FaultEvent.ALLOCATE, 0));
    try (ProtectionDomain domain = world.hca(0).allocateProtectionDomain()) {
      assertThatThrownBy(() -> domain.allocateOnChip(64))
          .isInstanceOf(HcaException.class)
          .hasMessageContaining("a fault plan says that none is left");
      domain.allocateOnChip(64).close();
    }
  }

  @Test
  void a_flag_behind_relaxed_payload_is_seen_before_it() {
    Endpoint[] ends = pair();
    inject(1, at(FaultAction.RELAXED_ORDERING, FaultEvent.PAYLOAD, 0).lasting(2_000));
    ends[0].buffer.putLong(0, 0x1234);
    ends[0].buffer.putLong(8, 1);
    ends[0].rdmaWrite(ends[1], 0, 64, 8).flags(0).write();
    ends[0].rdmaWrite(ends[1], 8, 128, 8).post();
    assertThat(ends[0].pollSend().isError()).isFalse();
    assertThat(ends[1].buffer.getLong(128)).as("flag").isOne();
    assertThat(ends[1].buffer.getLong(64)).as("payload").isZero();
    world.run(2_000);
    assertThat(ends[1].buffer.getLong(64)).isEqualTo(0x1234);
  }

  @Test
  void a_fault_for_one_queue_pair_spares_the_others() {
    Endpoint[] spared = pair();
    Endpoint[] struck = pair();
    inject(
        0,
        Fault.of(FaultAction.LOSE, FaultEvent.PACKET_SENT, FaultTrigger.chance(1))
            .on(new FaultTarget(-1, -1, 1)));
    spared[0].rdmaWrite(spared[1], 0, 64, 8).post();
    assertThat(spared[0].pollSend().isError()).isFalse();
    assertThat(fired()).isZero();
    struck[0].rdmaWrite(struck[1], 0, 64, 8).post();
    assertThat(struck[0].pollSend().syndrome()).isEqualTo(Syndrome.TRANSPORT_RETRY_EXCEEDED);
    assertThat(fired()).isEqualTo(8);
  }

  @Test
  void chance_gives_the_same_packets_for_the_same_seed() {
    List<Integer> first = lossy(0.2);
    List<Integer> second = lossy(0.2);
    assertThat(first).hasSizeGreaterThan(64 * 4);
    assertThat(second).isEqualTo(first);
  }

  /** The packets' places of a lossy transfer, relative to the first. */
  private static List<Integer> lossy(double chance) {
    try (SteppedWorld other = SteppedWorld.withMtu(MTU)) {
      Endpoint a = new Endpoint(other, 0, Endpoint.Shape.usual());
      Endpoint b = new Endpoint(other, 1, Endpoint.Shape.usual());
      Endpoint.connect(a, b);
      FaultPlan lossy =
          new FaultPlan(
              7,
              List.of(
                  Fault.of(FaultAction.LOSE, FaultEvent.PACKET_SENT, FaultTrigger.chance(chance))));
      for (int side = 0; side < 2; side++) {
        other.soft(side).inject(lossy.bind(side, 0, other.fabric.now()));
      }
      byte[] payload = fill(a, 256 * MTU);
      a.rdmaWrite(b, 0, 100_000, 256 * MTU).flags(ControlSegment.CQ_UPDATE).post();
      assertThat(a.pollSend().isError()).isFalse();
      assertThat(b.buffer.getBytes(100_000, 256 * MTU)).isEqualTo(payload);
      return List.copyOf(other.wire.psns);
    }
  }
}
