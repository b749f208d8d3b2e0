package dev.doorbell.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.experiments.workbench.explore.Scenario.ScenarioException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Each benchmark of the engines still does what it measures: one round of it, of no speed. */
class BenchmarksTest {
  private static final long POSTS = 1 << 18;

  @ParameterizedTest
  @CsvSource({"soft, thread, 64", "instant, warp, 32"})
  void put_rate_posts_all_its_work(String hca, String scope, int threads) {
    PutRateBenchmark benchmark = new PutRateBenchmark();
    benchmark.hca = hca;
    benchmark.scope = scope;
    benchmark.threads = threads;
    PutRateBenchmark.Counters counters = new PutRateBenchmark.Counters();
    benchmark.prepare();
    try {
      assertThat(benchmark.launch(counters)).isTrue();
    } finally {
      benchmark.close();
    }
    assertThat(counters.posts).isEqualTo(POSTS);
    assertThat(counters.instructions).isGreaterThan(50 * POSTS);
  }

  @Test
  void an_exploration_comes_to_its_end() throws ScenarioException {
    ExploreBenchmark benchmark = new ExploreBenchmark();
    benchmark.threads = 8;
    ExploreBenchmark.Counters counters = new ExploreBenchmark.Counters();
    benchmark.prepare();
    assertThat(benchmark.run(counters).finished()).isTrue();
    assertThat(counters.instructions).isPositive();
  }

  @Test
  void an_exchange_in_virtual_time_puts_to_every_neighbour() {
    TimedBenchmark benchmark = new TimedBenchmark();
    TimedBenchmark.Counters counters = new TimedBenchmark.Counters();
    long end = benchmark.exchange(counters);
    // 8 ranks, each with 6 neighbours and 8 messages for each; a put is several events.
    assertThat(counters.puts()).isEqualTo(384);
    assertThat(counters.eventsPerPut()).isGreaterThan(10);
    // The same exchange takes as much virtual time whenever it is made.
    assertThat(benchmark.exchange(counters)).isEqualTo(end).isPositive();
  }
}
