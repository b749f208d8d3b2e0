package dev.doorbell.experiments.scenario.push;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.doorbell.core.fabric.RunOutcome;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.push.generated.PushRingView;
import dev.doorbell.core.queue.Abi;
import dev.doorbell.push.CreditFaults;
import dev.doorbell.push.PushChecker.PushViolation;
import dev.doorbell.push.PushEvent.Kind;
import dev.doorbell.push.PushOptions;
import dev.doorbell.push.RingShape;
import dev.doorbell.push.network.Cable;
import dev.doorbell.push.network.Frame;
import java.util.Arrays;
import org.assertj.core.api.AbstractThrowableAssert;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/**
 * What can go wrong with pushing, F1 to F12 of docs/push.md: each provoked, and caught. F3: see
 * PushFenceTest.
 */
class PushFailureModesTest {
  private static final RingShape RING = RingShape.of(8, 256);
  private static final PushTraffic TRAFFIC =
      PushTraffic.of(RING, 256, 40, 1).with(it -> it.flags = PushRingView.CHECKSUMS);

  /** Loses the first data frame; control frames and all others arrive. */
  private static final Cable.Impairment LOSES_THE_FIRST = (frame, number) -> number == 0 ? 0 : 1;

  private static AbstractThrowableAssert<?, ?> assertThatViolates(
      String invariant, ThrowingCallable run) {
    return assertThatThrownBy(run)
        .isInstanceOfSatisfying(
            PushViolation.class, e -> assertThat(e.invariant()).isEqualTo(invariant))
        .hasMessageContaining("what happened before");
  }

  private static int with(int flag) {
    return PushRingView.CHECKSUMS | flag;
  }

  @Test
  void f1_a_producer_that_ignores_credits_overruns_the_ring() {
    try (PushBench bench = new PushBench(PushOptions.DEFAULT, Cable.Impairment.NONE)) {
      PushTraffic small = PushTraffic.of(RingShape.of(2, 256), 256, 40, 1);
      assertThatViolates(
          "I1", () -> bench.push(small.with(it -> it.flags = with(PushRingView.NO_CREDITS))));
    }
  }

  @Test
  void f2_a_lossy_producer_counts_what_the_ring_had_no_room_for_apart_from_what_the_network_lost() {
    int[] seen = {0};
    int[] lost = {0};
    Cable.Impairment everyTenth =
        (frame, number) -> {
          boolean loses = frame.bytes() > 200 && seen[0]++ % 10 == 9;
          lost[0] += loses ? 1 : 0;
          return loses ? 0 : 1;
        };
    try (PushBench bench = new PushBench(PushOptions.DEFAULT, everyTenth)) {
      long[] gaps = new long[60];
      Arrays.fill(gaps, 500);
      int status =
          bench.push(
              PushTraffic.of(RingShape.of(2, 256), 256, 60, 1)
                  .with(it -> it.flags = with(PushRingView.LOSSY))
                  .with(it -> it.gaps = gaps));
      assertThat(status).isEqualTo(Abi.OK);
      bench.checker.finish();
      long dropped = Arrays.stream(bench.sender.waits()).filter(wait -> wait < 0).count();
      assertThat(dropped).as("staging drops").isBetween(1L, 59L);
      assertThat(Arrays.stream(bench.sender.waits()).filter(wait -> wait == -1))
          .hasSize((int) dropped);
      assertThat(lost[0]).as("network drops").isPositive();
      // The network's losses are made up for, the ring's are not.
      assertThat(bench.checker.count(Kind.DELIVERED)).isEqualTo(60 - dropped);
    }
  }

  @Test
  void f4_frames_that_overtake_each_other_are_put_in_order_again() {
    Cable.Impairment overtaking =
        new Cable.Impairment() {
          @Override
          public int copies(Frame frame, long number) {
            return 1;
          }

          @Override
          public long late(Frame frame, long number) {
            return number % 4 == 1 ? 2_000 : 0;
          }
        };
    try (PushBench bench = new PushBench(PushOptions.DEFAULT, overtaking)) {
      assertThat(bench.push(TRAFFIC)).isEqualTo(Abi.OK);
      bench.checker.finish();
      assertThat(bench.missing).isEqualTo(-1);
      assertThat(bench.checker.count(Kind.OUT_OF_ORDER)).isPositive();
    }
  }

  @Test
  void f5_a_doorbell_in_two_pieces_is_replaced_by_the_record() {
    try (PushBench bench = new PushBench(PushOptions.DEFAULT, Cable.Impairment.NONE)) {
      // The kernel commits without ringing; the doorbell then comes as two halves.
      PushTraffic five =
          PushTraffic.of(RING, 256, 5, 1)
              .with(it -> it.batch = 64)
              .with(it -> it.flags = with(PushRingView.NO_FLUSH))
              .with(it -> it.deadlineNanos = 100_000);
      Memory inbox = bench.start(five);
      bench.fabric.run(() -> bench.fabric.now() > 50_000, 60_000);
      long page = bench.sender.ring(0).doorbellAddress();
      long half = bench.sender.ring(0).onChip().address();
      bench.sender.ring(0).mmioWrite(page, half, Integer.BYTES);
      bench.sender.ring(0).mmioWrite(page + Integer.BYTES, half, Integer.BYTES);
      assertThat(bench.run()).isEqualTo(RunOutcome.DONE);
      bench.fabric.quiesce();
      assertThat(bench.sender.outcome()).isEqualTo(Abi.OK);
      assertThat(bench.checker.count(Kind.TORN_DOORBELL)).isEqualTo(2);
      assertThat(bench.checker.count(Kind.DOORBELL)).isZero();
      assertThat(bench.sender.firstMissing(inbox, 0)).isEqualTo(-1);
    }
  }

  @Test
  void f6_without_the_flush_rule_the_last_message_of_a_burst_is_never_sent() {
    PushTraffic burst =
        PushTraffic.of(RingShape.of(64, 256), 256, 33, 1)
            .with(it -> it.batch = 32)
            .with(it -> it.flags = with(PushRingView.NO_FLUSH))
            .with(it -> it.deadlineNanos = 1_000_000);
    try (PushBench bench = new PushBench(PushOptions.DEFAULT, Cable.Impairment.NONE)) {
      assertThat(bench.push(burst)).isEqualTo(Abi.ERROR_DEADLINE);
      assertThatViolates("L1", bench.checker::finish)
          .hasMessageContaining("pi 33")
          .hasMessageContaining("db 32");
    }
    try (PushBench bench = new PushBench(PushOptions.DEFAULT, Cable.Impairment.NONE)) {
      assertThat(bench.push(burst.with(it -> it.flags = PushRingView.CHECKSUMS))).isEqualTo(Abi.OK);
      bench.checker.finish();
      assertThat(bench.checker.count(Kind.DOORBELL)).isEqualTo(2);
    }
  }

  @Test
  void f7_credits_that_are_lost_are_written_again() {
    try (PushBench bench = new PushBench(PushOptions.DEFAULT, Cable.Impairment.NONE)) {
      CreditFaults faults = CreditFaults.lose(bench.sender.engine(), 2);
      assertThat(bench.push(TRAFFIC)).isEqualTo(Abi.OK);
      bench.checker.finish();
      assertThat(faults.losses).isGreaterThan(5);
    }
  }

  @Test
  void f7_a_credit_that_comes_after_a_later_one_takes_nothing_back() {
    try (PushBench bench = new PushBench(PushOptions.DEFAULT, Cable.Impairment.NONE)) {
      CreditFaults.repeatOld(bench.sender.engine());
      assertThat(bench.push(TRAFFIC)).isEqualTo(Abi.OK);
      bench.checker.finish();
    }
  }

  @Test
  void f7_a_producer_that_never_gets_a_credit_gives_up_at_its_deadline() {
    try (PushBench bench = new PushBench(PushOptions.DEFAULT, Cable.Impairment.NONE)) {
      CreditFaults faults = CreditFaults.lose(bench.sender.engine(), 1);
      assertThat(bench.push(TRAFFIC.with(it -> it.deadlineNanos = 1_000_000)))
          .isEqualTo(Abi.ERROR_DEADLINE);
      assertThat(faults.losses).isPositive();
    }
  }

  @Test
  void f8_indices_wrap_on_the_wire_and_nowhere_else() {
    for (long wrap : new long[] {1L << 16, 1L << 24, 1L << 32}) {
      RingShape near = new RingShape(8, 8, 256, wrap - 16);
      try (PushBench bench = new PushBench(PushOptions.DEFAULT, LOSES_THE_FIRST)) {
        assertThat(
                bench.push(
                    PushTraffic.of(near, 256, 40, 1).with(it -> it.flags = PushRingView.CHECKSUMS)))
            .as("first message %d", near.first())
            .isEqualTo(Abi.OK);
        assertThat(bench.missing).isEqualTo(-1);
        bench.checker.finish();
        assertThat(bench.sender.ring(0).released()).isEqualTo(wrap + 24);
      }
    }
  }

  @Test
  void f10_an_acknowledgement_comes_before_the_bytes_are_visible_and_the_flag_after() {
    PushOptions options = PushOptions.DEFAULT;
    try (PushBench bench = new PushBench(options, options, 1, 0, Cable.Impairment.NONE)) {
      Memory flag = bench.receivers.getFirst().inbox(Long.BYTES);
      bench.receivers.getFirst().engine().flag(bench.sender.engine().number(), 0, flag.address());
      PushTraffic one = PushTraffic.of(RING, 256, 1, 1);
      Memory inbox = bench.start(one);
      RunOutcome acknowledged =
          bench.fabric.run(() -> bench.checker.count(Kind.ACKNOWLEDGED) == 1, 1_000_000);
      assertThat(acknowledged).isEqualTo(RunOutcome.DONE);
      assertThat(bench.sender.firstMissing(inbox, 0)).as("at the acknowledgement").isZero();
      assertThat(bench.fabric.run(() -> flag.getLong(0) == 1, 1_000_000))
          .isEqualTo(RunOutcome.DONE);
      assertThat(bench.sender.firstMissing(inbox, 0)).as("at the flag").isEqualTo(-1);
      bench.run();
    }
  }

  @Test
  void f12_a_paused_destination_blocks_a_shared_ring_and_not_a_ring_of_another() {
    // Engine 1 gets nothing for 200 us; engine 2 is well.
    long paused = 200_000;
    Cable.Impairment deaf =
        new Cable.Impairment() {
          @Override
          public int copies(Frame frame, long number) {
            return 1;
          }

          @Override
          public long late(Frame frame, long number) {
            return frame.destination() == 1 ? paused : 0;
          }
        };
    PushOptions patient = PushOptions.DEFAULT.withRetry(10_000_000);
    assertThat(timeToReach(patient, deaf, TRAFFIC.with(PushBench.toEachInTurn(2))))
        .isGreaterThan(paused);
    assertThat(timeToReach(patient, deaf, TRAFFIC.with(PushBench.ringForEach(2))))
        .isLessThan(paused / 2);
  }

  /** Virtual time until engine 2 has got ten messages. */
  private static long timeToReach(
      PushOptions options, Cable.Impairment impairment, PushTraffic traffic) {
    try (PushBench bench = new PushBench(options, options, 2, 1_000, impairment)) {
      Memory inbox = bench.start(traffic);
      int ring = traffic.rings - 1;
      Memory flag = bench.receivers.get(1).inbox(Long.BYTES);
      bench.receivers.get(1).engine().flag(0, ring, flag.address());
      assertThat(bench.fabric.run(() -> flag.getLong(0) >= 10, 5_000_000))
          .isEqualTo(RunOutcome.DONE);
      long reached = bench.fabric.now();
      assertThat(bench.run()).isEqualTo(RunOutcome.DONE);
      bench.fabric.quiesce();
      assertThat(bench.sender.outcome()).isEqualTo(Abi.OK);
      assertThat(bench.sender.firstMissing(inbox, 0)).isEqualTo(-1);
      bench.checker.finish();
      return reached;
    }
  }
}
