package dev.doorbell.experiments.scenario.congestion;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.config.ConfigReader;
import dev.doorbell.experiments.config.schema.Vocabulary;
import dev.doorbell.experiments.plan.Environment;
import dev.doorbell.experiments.plan.Plan;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.plan.PointResult;
import dev.doorbell.experiments.scenario.PointBench;
import dev.doorbell.experiments.scenario.SessionRuntime;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CongestionPointTest {
  private final SessionRuntime runtime = new SessionRuntime();

  private static Point point(String settings) throws Exception {
    String config =
        """
        experiment: e
        question: q?
        kernel: put_bandwidth
        axes: { size: [16K] }
        fixed: { port_gbps: 40, messages: 8, buffer: 128K, %s }
        measure: { metrics: [flow, fairness, queue, lost, marked, pauses], warmup: 0, samples: 1 }
        """
            .formatted(settings);
    return Plan.of(new ConfigReader(Vocabulary.anything()).read("e.yaml", config, List.of()))
        .points()
        .getFirst();
  }

  private PointResult run(String settings) throws Exception {
    return runtime
        .runner(runtime.choose(new Environment.Request("auto", "auto", "virtual")))
        .run(point(settings), new PointBench());
  }

  private static double[] flows(PointResult result) {
    return result.samples().getFirst().values();
  }

  @ParameterizedTest
  @CsvSource({
    "incast,leaf-spine,pfc,dcqcn,5",
    "victim,fat-tree,pfc,none,3",
    "permutation,rails,ecn,delay,6",
    "all-to-all,leaf-spine,lossy,credits,30",
    "all-to-all,switch,lossy,none,30"
  })
  void every_flow_arrives_and_none_is_faster_than_its_port(
      String traffic, String network, String full, String cc, int flows) throws Exception {
    PointResult result =
        run(
            "traffic: %s, network: %s, switch: %s, cc: %s, ranks: 6, radix: 4, spines: 2"
                .formatted(traffic, network, full, cc));
    assertThat(flows(result)).hasSize(flows);
    assertThat(Arrays.stream(flows(result)).allMatch(rate -> rate > 0 && rate < 5)).isTrue();
    int all = traffic.equals("victim") ? flows + 1 : flows;
    assertThat(result.verifiedBytes()).isEqualTo(all * 8L * 16384);
    if (full.equals("pfc")) {
      assertThat(Objects.requireNonNull(result.counters().get("lost")).value()).isZero();
    }
  }

  @Test
  void credits_of_the_receiver_keep_an_incast_from_losing_packets() throws Exception {
    String incast =
        "traffic: incast, network: switch, switch: lossy, ranks: 8, placement: same-switch, cc: ";
    PointResult none = run(incast + "none");
    PointResult credits = run(incast + "credits");
    assertThat(Objects.requireNonNull(none.counters().get("lost")).value()).isPositive();
    assertThat(Objects.requireNonNull(credits.counters().get("lost")).value()).isZero();
    // The port is busy all the same: 5 bytes a nanosecond, frames and a beginning included.
    assertThat(Arrays.stream(flows(credits)).sum()).isBetween(3.5, 5.5);
  }

  @Test
  void the_same_seed_gives_the_same_rates() throws Exception {
    String settings = "traffic: incast, network: leaf-spine, switch: ecn, cc: dcqcn, ranks: 6";
    assertThat(flows(run(settings))).isEqualTo(flows(run(settings)));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "traffic: incast, ranks: 4 | use network: switch",
        "traffic: incast, ranks: 4, network: switch | use switch: lossy, ecn or pfc",
        "traffic: incast, ranks: 4, network: switch, switch: lossy, cc: dcqcn | use switch: ecn",
        "traffic: incast, ranks: 4, network: switch, switch: pfc, cc: user | DOORBELL_CLASSPATH",
        "traffic: victim, ranks: 4, network: switch, switch: ecn | use at least 5 ranks",
        "traffic: incast, ranks: 40, network: fat-tree, radix: 4, switch: ecn | larger even radix",
      })
  void impossible_networks_are_refused_with_a_fix(String settings, String fix) throws Exception {
    List<Problem> problems = runtime.check(point(settings));
    assertThat(problems).extracting(Problem::code).containsOnly("DB-P032");
    assertThat(problems.toString()).contains(fix);
  }
}
