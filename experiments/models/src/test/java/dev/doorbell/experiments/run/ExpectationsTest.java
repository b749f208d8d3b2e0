package dev.doorbell.experiments.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.Basis;
import dev.doorbell.experiments.config.Configs;
import dev.doorbell.experiments.config.ExperimentConfig;
import dev.doorbell.experiments.plan.Plan;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.plan.Prediction;
import dev.doorbell.experiments.plan.Quantity;
import dev.doorbell.experiments.plan.Samples;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.function.ToDoubleFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Runs of which the medians are known, held against what is expected of them. */
class ExpectationsTest {
  /** Pull takes 1000 ns and 1 ns a KiB, push 100 and 100, staging twice what pull takes. */
  private static double latency(Point point) {
    double kib = point.whole("size") / 1024.0;
    return switch (point.text("path")) {
      case "pull" -> 1000 + kib;
      case "push.memic" -> 100 + 100 * kib;
      default -> 2 * (1000 + kib);
    };
  }

  private static Expectations.Found found(String that, String rest, String... overrides) {
    return found(that, rest, ExpectationsTest::latency, overrides);
  }

  private static Expectations.Found found(
      String that, String rest, ToDoubleFunction<Point> latency, String... overrides) {
    ExperimentConfig config =
        Configs.read(
            """
            experiment: held
            question: Is it as expected?
            expect:
              - { that: %s, metric: latency, %s source: a test }
            kernel: put_latency
            axes:
              path: [pull, push.memic, staged]
              size: [1K, 4K, 16K, 64K]
            measure: { metrics: [latency, tlp.bytes] }
            """
                .formatted(that, rest),
            overrides);
    List<SummaryRow> rows = new ArrayList<>();
    for (Point point : Plan.of(config).points()) {
      double value = latency.applyAsDouble(point);
      SequencedMap<String, MetricRow> metrics = new LinkedHashMap<>();
      metrics.put(
          "latency",
          new MetricRow(
              Samples.of("latency", "ns", value, value, value),
              Optional.of(new Prediction.Term("latency", 1000, "ns", "T = 1000", false))));
      SequencedMap<String, Quantity> counters = new LinkedHashMap<>();
      counters.put("tlp.bytes", Quantity.count(point.whole("size")));
      rows.add(new SummaryRow(point.id(), point.axes(), metrics, counters, point.seed()));
    }
    RunData data = RunData.of("run", config, Optional.empty(), Basis.MODELLED, rows);
    return Expectations.of(data).getFirst();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "less      | of: {path: pull}, than: {path: staged},                          | MET",
        "less      | of: {path: pull}, than: {path: staged}, by: 2,                   | MET",
        "less      | of: {path: pull}, than: {path: staged}, by: 2.1,                 | NOT_MET",
        "greater   | of: {path: staged}, than: {path: [pull]}, where: {size: '>=4K'},   | MET",
        "greater   | of: {path: push.memic}, than: {path: pull},                      | NOT_MET",
        "greater   | of: {path: push.memic}, than: {path: pull}, where: {size: '>=16K'}, | MET",
        "less      | of: {path: pull}, than: {path: pull},                            |"
            + " NOT_TESTABLE",
        "equal     | of: {size: 1K}, than: {size: 64K}, where: {path: pull}, tolerance: 0.07, |"
            + " MET",
        "equal     | of: {size: 1K}, than: {size: 64K}, where: {path: pull},          | NOT_MET",
        "rises     | over: size,                                                      | MET",
        "falls     | over: size,                                                      | NOT_MET",
        "level     | over: size, where: {path: pull}, tolerance: 0.07,                | MET",
        "level     | over: size, where: {path: push.memic},                           | NOT_MET",
        "within    | within: [1000, 1100], where: {path: pull},                       | MET",
        "within    | within: [0, 64K], where: {path: push.memic, size: 1K},           | MET",
        "within    | within: [0, 1], where: {path: pull},                             | NOT_MET",
        "within    | within: [0, 1], where: {path: proxy},                            |"
            + " NOT_TESTABLE",
        "modelled  | tolerance: 0.07, where: {path: pull},                            | MET",
        "modelled  | where: {path: staged},                                           | NOT_MET",
        "crossover | between: [push.memic, pull], within: [4K, 16K],                  | MET",
        "crossover | between: [pull, push.memic], within: [4K, 16K],                  | NOT_MET",
        "crossover | between: [push.memic, pull], within: [10K, 16K],                 | NOT_MET",
        "crossover | between: [pull, staged], within: [4K, 16K],                      | NOT_MET",
        "crossover | between: [push.memic, proxy], within: [4K, 16K],                 |"
            + " NOT_TESTABLE",
      })
  void a_run_meets_what_it_is_held_against_or_does_not(
      String that, String rest, Expectations.Verdict verdict) {
    Expectations.Found found = found(that.strip(), rest.strip());
    assertThat(found.verdict()).as(found.why()).isEqualTo(verdict);
  }

  @Test
  void a_part_of_the_plan_cannot_say_what_the_rest_would() {
    assertThat(found("crossover", "between: [pull, staged], within: [1K, 64K],", "size=1K,4K"))
        .satisfies(
            found -> {
              assertThat(found.verdict()).isEqualTo(Expectations.Verdict.NOT_TESTABLE);
              assertThat(found.why()).contains("does not cover the range");
            });
    assertThat(found("rises", "over: size,", "size=4K").verdict())
        .isEqualTo(Expectations.Verdict.NOT_TESTABLE);
  }

  @Test
  void what_was_found_names_the_point_that_is_farthest_off() {
    assertThat(found("less", "of: {path: push.memic}, than: {path: pull},").why())
        .isEqualTo(
            "2 of 4 pairs; farthest off: 6.5 us against 1.064 us (6.109 times) at"
                + " push.memic_65536");
  }

  @Test
  void a_line_that_steps_back_does_not_rise() {
    ToDoubleFunction<Point> dented =
        point -> point.whole("size") == 16384 ? 100 : point.whole("size");
    assertThat(found("rises", "over: size,", dented).verdict())
        .isEqualTo(Expectations.Verdict.NOT_MET);
    ToDoubleFunction<Point> flat = _ -> 7;
    assertThat(found("rises", "over: size,", flat).verdict())
        .isEqualTo(Expectations.Verdict.NOT_MET);
    assertThat(found("level", "over: size, tolerance: 0,", flat).verdict())
        .isEqualTo(Expectations.Verdict.MET);
  }
}
