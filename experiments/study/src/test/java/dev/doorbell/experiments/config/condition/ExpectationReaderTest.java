package dev.doorbell.experiments.config.condition;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.experiments.config.Configs;
import dev.doorbell.experiments.config.ExperimentConfig;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a config may expect of its run, and what it may not. */
class ExpectationReaderTest {
  private static String config(String expectation) {
    return Configs.SMALL + "expect:\n  - " + expectation + "\n";
  }

  @Test
  void an_expectation_says_itself_in_words() {
    ExperimentConfig config =
        Configs.read(
            config(
                "{ that: less, metric: latency, of: { path: push.memic }, than: { path: pull },"
                    + " where: { size: \"<=4K\" }, by: 1.5, source: theory }"));
    assertThat(config.expectations())
        .extracting(Expectation::text)
        .containsExactly(
            "latency of path=push.memic less than of path=pull, 1.5 times at least, where"
                + " size<=4 KiB");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{ that: less, metric: latency, of: {path: pull}, source: s } | needs the key 'than'",
        "{ that: lesser, metric: latency, source: s } | unknown that 'lesser'  - did you mean"
            + " 'less'?",
        "{ that: rises, metric: latency, over: sice, source: s } | unknown axis 'sice'",
        "{ that: rises, metric: latency, over: size, by: 2, source: s } | 'by' means nothing in an"
            + " expectation that says rises",
        "{ that: within, metric: latency, within: [1, x], source: s } | within has 'x'",
        "{ that: within, metric: latency, within: [1], source: s } | needs 2 entries",
        "{ that: level, metric: latency, over: size } | key 'source' is missing",
        "{ that: modelled, metric: latencies, source: s } | unknown metric 'latencies'",
        "{ that: modelled, metric: latency, where: {mtu: 4096}, source: s } | unknown axis 'mtu'",
      })
  void what_makes_no_sense_is_said(String expectation, String problem) {
    assertThat(Configs.problems(config(expectation)))
        .singleElement()
        .satisfies(text -> assertThat(text).contains(problem));
  }

  @Test
  void what_is_expected_changes_nothing_about_what_is_run() {
    ExperimentConfig expecting =
        Configs.read(config("{ that: rises, metric: latency, over: size, source: theory }"));
    assertThat(expecting.hash()).isEqualTo(Configs.read(Configs.SMALL).hash());
    assertThat(Configs.read(expecting.resolved()).expectations())
        .isEqualTo(expecting.expectations())
        .isNotEqualTo(List.of());
  }
}
