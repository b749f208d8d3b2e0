package dev.doorbell.experiments.scenario.push;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.push.generated.PushRingView;
import dev.doorbell.core.queue.Abi;
import dev.doorbell.push.PushEvent.Kind;
import dev.doorbell.push.PushOptions;
import dev.doorbell.push.PushOptions.Release;
import dev.doorbell.push.RingShape;
import dev.doorbell.push.network.Cable;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** The protocol as expected, by the kernel itself, with each event checked. */
class PushProtocolTest {
  private static final PushTraffic TRAFFIC =
      PushTraffic.of(RingShape.of(8, 256), 256, 100, 1)
          .with(it -> it.flags = PushRingView.CHECKSUMS);

  @ParameterizedTest
  @EnumSource(Release.class)
  void every_message_arrives_as_it_was_sent(Release release) {
    try (PushBench bench =
        new PushBench(PushOptions.DEFAULT.with(release), Cable.Impairment.NONE)) {
      assertThat(bench.push(TRAFFIC)).isEqualTo(Abi.OK);
      assertThat(bench.missing).isEqualTo(-1);
      bench.checker.finish();
      assertThat(bench.checker.count(Kind.DELIVERED)).isEqualTo(100);
      assertThat(bench.checker.count(Kind.READ)).isEqualTo(100);
      assertThat(bench.checker.count(Kind.PULLED)).isZero();
    }
  }

  @ParameterizedTest
  @EnumSource(Release.class)
  void a_network_that_loses_repeats_and_reorders_changes_nothing_of_it(Release release) {
    long seed = 20_261;
    SplittableRandom random = new SplittableRandom(seed);
    Cable.Impairment impairment =
        new Cable.Impairment() {
          @Override
          public int copies(dev.doorbell.push.network.Frame frame, long number) {
            int die = random.nextInt(100);
            return die < 5 ? 0 : die < 10 ? 2 : 1;
          }

          @Override
          public long late(dev.doorbell.push.network.Frame frame, long number) {
            return random.nextInt(10) == 0 ? random.nextInt(3_000) : 0;
          }
        };
    try (PushBench bench = new PushBench(PushOptions.DEFAULT.with(release), impairment)) {
      assertThat(bench.push(TRAFFIC)).as("seed %d", seed).isEqualTo(Abi.OK);
      assertThat(bench.missing).as("seed %d", seed).isEqualTo(-1);
      bench.checker.finish();
      assertThat(bench.checker.count(Kind.DELIVERED)).isEqualTo(100);
      assertThat(bench.checker.count(Kind.RETRANSMITTED)).isPositive();
      // Where slots are given back at once, what goes again is pulled from GPU memory.
      boolean pulls = bench.checker.count(Kind.PULLED) > 0;
      assertThat(pulls).isEqualTo(release == Release.TRANSMITTED);
    }
  }

  @ParameterizedTest
  @CsvSource({"2, 1, 8", "4, 1, 8", "4, 8, 8", "10, 3, 4", "5, 64, 2"})
  void several_blocks_push_to_one_ring_and_nothing_is_torn(int producers, int batch, int slots) {
    PushTraffic shared =
        PushTraffic.of(new RingShape(8, slots, 256, 0), 256, 100, 1)
            .with(it -> it.flags = PushRingView.CHECKSUMS)
            .with(it -> it.batch = batch)
            .with(PushBench.producers(producers));
    try (PushBench bench = new PushBench(PushOptions.DEFAULT, Cable.Impairment.NONE)) {
      assertThat(bench.push(shared)).isEqualTo(Abi.OK);
      assertThat(bench.missing).isEqualTo(-1);
      bench.checker.finish();
      assertThat(bench.checker.count(Kind.DELIVERED)).isEqualTo(100);
      // A header that was read before its message was committed would have been met too early.
      assertThat(bench.checker.count(Kind.EARLY)).isZero();
      assertThat(bench.checker.count(Kind.READ) + bench.checker.count(Kind.PULLED)).isEqualTo(100);
    }
  }

  @Test
  void a_batch_larger_than_the_ring_is_rung_for_when_the_ring_is_full() {
    PushTraffic large = TRAFFIC.with(it -> it.batch = 64);
    try (PushBench bench = new PushBench(PushOptions.DEFAULT, Cable.Impairment.NONE)) {
      assertThat(bench.push(large)).isEqualTo(Abi.OK);
      assertThat(bench.missing).isEqualTo(-1);
      bench.checker.finish();
      assertThat(bench.checker.count(Kind.DOORBELL)).isBetween(100L / 8, 100L);
    }
  }

  @Test
  void rings_of_several_blocks_each_keep_to_themselves() {
    PushTraffic two =
        PushTraffic.of(RingShape.of(4, 256), 256, 60, 1)
            .with(it -> it.flags = PushRingView.CHECKSUMS)
            .with(PushBench.ringForEach(2))
            .with(PushBench.producers(3));
    PushOptions options = PushOptions.DEFAULT;
    try (PushBench bench = new PushBench(options, options, 2, 1000, Cable.Impairment.NONE)) {
      assertThat(bench.push(two)).isEqualTo(Abi.OK);
      assertThat(bench.missing).isEqualTo(-1);
      bench.checker.finish();
      assertThat(bench.checker.count(Kind.DELIVERED)).isEqualTo(120);
    }
  }
}
