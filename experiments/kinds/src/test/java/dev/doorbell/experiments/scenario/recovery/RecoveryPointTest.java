package dev.doorbell.experiments.scenario.recovery;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.plan.PointFailure;
import dev.doorbell.experiments.plan.PointResult;
import dev.doorbell.experiments.scenario.PointBench;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The experiments on recovery, as configs run them. */
class RecoveryPointTest {
  private final PointBench bench = new PointBench();

  private static Point point(String metrics, String more, String... settings) throws Exception {
    return PointBench.point(
        settings,
        "kernel: restartable",
        "measure: { metrics: [%s], samples: 3 }".formatted(metrics),
        more);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "cqe-error",
        "qp-error",
        "peer-error",
        "loss-burst",
        "doorbell-lost",
        "receiver-slow"
      })
  void nothing_is_lost_and_nothing_applied_twice(String fault) throws Exception {
    PointResult result =
        bench.run(
            point(
                "detect, recover, replayed, lost.bytes, duplicated.bytes, lost.atomics,"
                    + " repeated.atomics",
                "",
                "fault=" + fault,
                "remedy=reset",
                "size=256",
                "window=4"));
    assertThat(result.verifiedBytes()).isPositive();
    assertThat(result.samples()).hasSize(2).allSatisfy(one -> assertThat(one.size()).isEqualTo(3));
    assertThat(PointBench.counted(result, "replayed")).isPositive();
    for (String loss :
        List.of("lost.bytes", "duplicated.bytes", "lost.atomics", "repeated.atomics")) {
      assertThat(PointBench.counted(result, loss)).as(loss).isZero();
    }
  }

  @Test
  void another_port_does_not_wait_for_the_link_that_is_down() throws Exception {
    double waits =
        bench
            .run(point("recover", "", "fault=link-down", "remedy=reset", "size=256"))
            .samples()
            .getFirst()
            .value(0);
    double leaves =
        bench
            .run(point("recover", "", "fault=link-down", "remedy=failover", "size=256"))
            .samples()
            .getFirst()
            .value(0);
    assertThat(leaves * 10).isLessThan(waits);
  }

  @Test
  void the_faults_of_the_config_happen_beside_and_are_counted_over_all_samples() throws Exception {
    bench.run(
        point(
            "replayed",
            "faults: [ { do: lose, at: packet 9, target: rank0.hca0 } ]\n",
            "fault=none",
            "size=256"));
    assertThat(bench.tallies())
        .singleElement()
        .satisfies(one -> assertThat(one.fired()).isEqualTo(3));
  }

  @Test
  void a_receiver_that_is_slow_once_is_waited_for_and_one_that_stays_slow_is_recovered_from()
      throws Exception {
    PointResult result =
        bench.run(
            point(
                "detect, replayed, lost.bytes, duplicated.bytes",
                "faults: [ { do: rnr, at: receive 9, target: rank1.hca0, timer: 12, must_fire: true"
                    + " } ]\n",
                "fault=receiver-slow",
                "remedy=reset",
                "size=256",
                "window=4"));
    assertThat(bench.tallies())
        .singleElement()
        .satisfies(
            one -> {
              assertThat(one.fired()).as("once in each of the samples").isEqualTo(3);
              assertThat(one.missed()).isFalse();
            });
    // Three waits of 0.64 ms before the fourth refusal.
    assertThat(result.samples().getFirst().value(0)).isBetween(3 * 640_000.0, 2_500_000.0);
    assertThat(PointBench.counted(result, "replayed")).isPositive();
    assertThat(PointBench.counted(result, "lost.bytes")).isZero();
    assertThat(PointBench.counted(result, "duplicated.bytes")).isZero();
  }

  @Test
  void a_receiver_that_is_never_ready_ends_the_kernel_with_the_syndrome_that_says_so()
      throws Exception {
    Point hopeless =
        point(
            "replayed",
            "faults: [ { do: rnr, at: receive 20-100000, target: rank1.hca0, timer: 1 } ]\n",
            "fault=receiver-slow",
            "size=256");
    assertThatThrownBy(() -> bench.run(hopeless))
        .isInstanceOf(PointFailure.class)
        .hasMessageContaining("RNR");
  }

  @Test
  void a_failure_that_no_replay_gets_over_says_so() throws Exception {
    Point hopeless =
        point(
            "replayed",
            "faults: [ { do: cqe-error, at: wqe 10-100000, target: rank0.hca0, syndrome: 0x04 }"
                + " ]\n",
            "fault=none",
            "size=256");
    assertThatThrownBy(() -> bench.run(hopeless))
        .isInstanceOf(PointFailure.class)
        .hasMessageContaining("queue pair had an error before")
        .hasMessageContaining("to=none");
  }

  @Test
  void what_cannot_be_measured_is_refused() throws Exception {
    assertThat(bench.runtime().check(point("detect", "", "fault=none", "size=256")))
        .singleElement()
        .satisfies(problem -> assertThat(problem.text()).contains("DB-P024", "detect"));
    assertThat(bench.runtime().check(point("latency", "", "fault=cqe-error", "size=256")))
        .hasSize(1);
    assertThat(bench.runtime().check(point("replayed", "", "fault=none", "size=12"))).hasSize(1);
  }

  /** {@code -Ddoorbell.recovery.draws=200} draws more. */
  @Test
  void settings_that_do_not_apply_are_refused_before_anything_runs() throws Exception {
    int draws = Integer.getInteger("doorbell.recovery.draws", 12);
    long seed = Long.getLong("doorbell.seed", 45);
    int refused = 0;
    for (int i = 0; i < draws; i++) {
      String[] settings = drawn(new SplittableRandom(seed + i));
      Point point =
          PointBench.point(
              settings,
              "kernel: restartable",
              "measure: { metrics: [executed, lost.bytes, duplicated.bytes], samples: 1 }");
      if (!bench.runtime().check(point).isEmpty()) {
        refused++;
        continue;
      }
      assertThatCode(() -> bench.run(point))
          .as("seed %d: %s", seed + i, List.of(settings))
          .doesNotThrowAnyException();
    }
    assertThat(refused).isPositive().isLessThan(draws / 2);
  }

  private static String[] drawn(SplittableRandom random) {
    long[] silences = {5_000, 5_250_000, 6_000_000, 20_000_000, 50_000_000};
    return new String[] {
      "fault=" + one(random, RecoveryKind.Failure.values()),
      "remedy=" + one(random, SupervisedKernel.Remedy.values()),
      "size=" + 8 * (1 << random.nextInt(14)),
      "threads=" + (1 + random.nextInt(random.nextBoolean() ? 4 : 40)),
      "window=" + (1 << random.nextInt(random.nextBoolean() ? 4 : 16)),
      "silence=" + silences[random.nextInt(silences.length)]
    };
  }

  private static String one(SplittableRandom random, Enum<?>[] values) {
    return values[random.nextInt(values.length)].name().toLowerCase(Locale.ROOT).replace('_', '-');
  }
}
