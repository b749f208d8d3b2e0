package dev.doorbell.experiments.scenario.push;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.doorbell.experiments.config.ConfigReader;
import dev.doorbell.experiments.config.schema.Vocabulary;
import dev.doorbell.experiments.model.Bounds;
import dev.doorbell.experiments.plan.Plan;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.plan.PointResult;
import dev.doorbell.experiments.scenario.PointBench;
import java.util.Arrays;
import java.util.List;
import org.assertj.core.data.Percentage;
import org.junit.jupiter.api.Test;

/** The experiments on pushing, as configs run them. */
class PushPointTest {
  private final PointBench bench = new PointBench();

  private static Point point(String metrics, String... settings) throws Exception {
    return PointBench.point(
        settings,
        "kernel: push_ring",
        "measure: { metrics: [%s], warmup: 1, samples: 5 }".formatted(metrics));
  }

  private double goodput(String... settings) throws Exception {
    return bench.run(point("goodput", settings)).samples().getFirst().value(0);
  }

  private double share(String full) throws Exception {
    PointResult result =
        bench.run(
            point("full", "slots=4", "load=90", "full=" + full, "release=transmitted", "rtt=0"));
    return Arrays.stream(result.samples().getFirst().values()).average().orElseThrow();
  }

  @Test
  void a_full_ring_is_as_likely_as_a_queue_of_its_size_says_whether_messages_wait_or_are_lost()
      throws Exception {
    double expected = Bounds.ringFull(0.9, 4);
    assertThat(expected).isCloseTo(0.160, within(0.001));
    // 10,000 messages in correlated runs: ten percent are three standard errors and more.
    assertThat(share("stall")).isCloseTo(expected, Percentage.withPercentage(10));
    assertThat(share("drop")).isCloseTo(expected, Percentage.withPercentage(10));
  }

  @Test
  void a_retained_ring_carries_itself_once_a_round_trip_and_the_knee_is_where_that_is_the_rate()
      throws Exception {
    String[] near = {"slots=4", "size=16K", "rtt=500", "release=acknowledged"};
    String[] far = {"slots=4", "size=16K", "rtt=100000", "release=acknowledged"};
    // Farther away what the sender may leave unacknowledged is the limit.
    String[] given = {"slots=4", "size=16K", "rtt=64000", "release=transmitted"};
    double rate = goodput(near);
    double bytes = 4 * 16_384;
    double credit = bytes / goodput(far) - 100_000;
    double knee = bytes / rate - credit;
    assertThat(credit).as("nanoseconds that a credit takes beside the round trip").isPositive();
    assertThat(knee)
        .as("round trip at which the ring limits; W s / B is %s", bytes / rate)
        .isBetween(0.4 * bytes / rate, bytes / rate);
    assertThat(goodput(given)).isCloseTo(rate, Percentage.withPercentage(2));
  }

  @Test
  void a_switch_that_pauses_loses_nothing_where_a_lossy_one_does() throws Exception {
    String metrics = "completion, retransmitted, lost, pauses";
    String[] lossy = {
      "senders=4", "size=4K", "slots=16", "batch=4", "buffer=16K", "rtt=4000", "switch=lossy"
    };
    String[] pausing = lossy.clone();
    pausing[4] = "buffer=1M";
    pausing[6] = "switch=pfc";
    PointResult lost = bench.run(point(metrics, lossy));
    assertThat(PointBench.counted(lost, "lost")).isPositive();
    assertThat(PointBench.counted(lost, "retransmitted")).isPositive();
    assertThat(lost.verifiedBytes()).isEqualTo(4 * 32 * 4096);
    PointResult paused = bench.run(point(metrics, pausing));
    assertThat(PointBench.counted(paused, "lost")).isZero();
    assertThat(PointBench.counted(paused, "retransmitted")).isZero();
    assertThat(paused.verifiedBytes()).isEqualTo(4 * 32 * 4096);
  }

  @Test
  void what_finds_no_slot_is_pulled_and_no_kernel_waits() throws Exception {
    String metrics = "stall, pulled";
    String[] retained = {"slots=4", "size=4K", "rtt=50000", "policy=ack", "window=64"};
    String[] fallback = {"slots=4", "size=4K", "rtt=50000", "policy=pull-fallback", "window=64"};
    PointResult waits = bench.run(point(metrics, retained));
    PointResult pulls = bench.run(point(metrics, fallback));
    assertThat(PointBench.counted(waits, "pulled")).isZero();
    assertThat(PointBench.counted(pulls, "pulled")).isPositive();
    assertThat(pulls.samples().getFirst().value(0))
        .isLessThan(waits.samples().getFirst().value(0) / 4);
  }

  @Test
  void settings_of_pushing_are_refused_where_nobody_pushes() throws Exception {
    Point transfer =
        Plan.of(
                new ConfigReader(Vocabulary.anything())
                    .read(
                        "transfer.yaml",
                        """
                        experiment: transfer
                        question: Which?
                        kernel: put_bandwidth
                        axes: { slots: [8] }
                        measure: { metrics: [goodput] }
                        """,
                        List.of()))
            .points()
            .getFirst();
    assertThat(bench.runtime().check(transfer))
        .singleElement()
        .satisfies(problem -> assertThat(problem.what()).contains("slots is 8"));
  }

  @Test
  void a_switch_marks_sooner_where_its_threshold_is_lower_and_senders_make_room() throws Exception {
    String[] incast = {
      "senders=16",
      "policy=ack",
      "window=8",
      "size=4096",
      "slots=16",
      "rtt=4000",
      "buffer=262144",
      "switch=ecn",
      "mark=0"
    };
    PointResult high = bench.run(point("completion, marked, lost", incast));
    incast[incast.length - 1] = "mark=8192";
    PointResult low = bench.run(point("completion, marked, lost", incast));
    assertThat(PointBench.counted(low, "marked")).isGreaterThan(PointBench.counted(high, "marked"));
    assertThat(PointBench.counted(low, "lost"))
        .isLessThanOrEqualTo(PointBench.counted(high, "lost"));
  }

  @Test
  void several_blocks_share_a_ring_and_deliver_as_much() throws Exception {
    PointResult shared = bench.run(point("goodput, stall", "size=4096", "slots=16", "producers=4"));
    assertThat(shared.verifiedBytes()).isEqualTo(2L << 20);
    assertThat(shared.samples().getFirst().value(0)).isPositive();
  }
}
