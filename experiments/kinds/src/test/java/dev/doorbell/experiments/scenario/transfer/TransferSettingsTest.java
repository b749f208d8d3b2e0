package dev.doorbell.experiments.scenario.transfer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.plan.ModelConstant;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.plan.PointResult;
import dev.doorbell.experiments.plan.Prediction;
import dev.doorbell.experiments.scenario.PointBench;
import java.util.List;
import org.assertj.core.data.Percentage;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What the settings of transfers do, and where they are refused. */
class TransferSettingsTest {
  private final PointBench bench = new PointBench();

  private static Point point(String metrics, String... settings) throws Exception {
    return PointBench.point(
        settings,
        metrics.contains("dispatch")
            ? "kernel: put_bandwidth"
            : "kernel: [put_latency, put_bandwidth]",
        "measure: { metrics: [%s], warmup: 1, samples: 1 }".formatted(metrics));
  }

  private double goodput(String... settings) throws Exception {
    return bench.run(point("goodput", settings)).samples().getFirst().value(0);
  }

  @Test
  void several_queue_pairs_carry_more_where_one_waits_for_its_fences() throws Exception {
    double one = goodput("path=push.memic", "size=16K", "chunk=16K", "qps=1");
    double four = goodput("path=push.memic", "size=16K", "chunk=16K", "qps=4");
    assertThat(four).isGreaterThan(2 * one);
  }

  @Test
  void every_queue_pairs_messages_are_compared() throws Exception {
    PointResult result = bench.run(point("goodput", "path=pull", "size=4K", "qps=3"));
    assertThat(result.verifiedBytes()).isEqualTo(3L * 4096);
  }

  @Test
  void more_threads_copy_faster_and_smaller_chunks_slower() throws Exception {
    double many = goodput("path=push.memic", "size=32K", "threads=256");
    double few = goodput("path=push.memic", "size=32K", "threads=32");
    double chunked = goodput("path=push.memic", "size=32K", "threads=256", "chunk=4K");
    // One warp has eight loads of each thread in flight: eight warps do not carry eight times as
    // much.
    assertThat(many).isGreaterThan(1.2 * few);
    assertThat(chunked).isLessThan(many);
  }

  @ParameterizedTest
  @CsvSource({"push.memic", "staged"})
  void a_message_takes_no_more_of_the_staging_area_than_it_has_bytes(String path) throws Exception {
    double roomy = goodput("path=" + path, "size=4K", "chunk=64K");
    assertThat(roomy).isEqualTo(goodput("path=" + path, "size=4K", "chunk=4K"));
    // Four messages under way, as many as whole chunks fit, are acknowledged in a round trip.
    double four = goodput("path=" + path, "size=4K", "chunk=4K", "window=4");
    assertThat(roomy).isGreaterThan(1.2 * four);
  }

  @ParameterizedTest
  @CsvSource({
    "push.memic,same-switch,4K,4",
    "push.memic,cross-socket,16K,1",
    "staged,same-switch,4K,1"
  })
  void what_is_staged_in_chunks_comes_near_what_one_poster_can_do_and_not_above(
      String path, String placement, String chunk, int qps) throws Exception {
    String[] settings = {
      "path=" + path, "placement=" + placement, "size=64K", "chunk=" + chunk, "qps=" + qps
    };
    Prediction.Term ceiling =
        bench.runtime().predict(point("goodput", settings)).of("goodput").orElseThrow();
    assertThat(ceiling.ceiling()).isTrue();
    assertThat(ceiling.formula()).contains("a chunk c each in o_g + S_w(c)");
    assertThat(goodput(settings)).isBetween(0.5 * ceiling.value(), ceiling.value());
  }

  @ParameterizedTest
  @CsvSource({"pull,1", "pull,8", "push.inline,3", "push.memic,4", "staged,7"})
  void a_payload_may_lie_anywhere(String path, int offset) throws Exception {
    PointResult result =
        bench.run(point("goodput", "path=" + path, "size=128", "offset=" + offset));
    assertThat(result.verifiedBytes()).isEqualTo(128);
  }

  @Test
  void relaxed_ordering_matters_only_where_strict_writes_are_held_back() throws Exception {
    double strict = goodput("placement=vm-redirect", "path=pull.bf", "size=64K", "relaxed=false");
    double relaxed = goodput("placement=vm-redirect", "path=pull.bf", "size=64K", "relaxed=true");
    assertThat(strict).isLessThanOrEqualTo(10.5).isGreaterThan(9);
    assertThat(relaxed).isGreaterThan(1.5 * strict);
    assertThat(goodput("path=pull.bf", "size=64K", "relaxed=true"))
        .isCloseTo(
            goodput("path=pull.bf", "size=64K", "relaxed=false"), Percentage.withPercentage(1));
  }

  @Test
  void payload_in_host_memory_does_not_pay_for_a_capped_way_between_peers() throws Exception {
    double gpu = goodput("placement=cross-socket", "path=pull.bf", "size=64K", "payload=gpu");
    double host = goodput("placement=cross-socket", "path=pull.bf", "size=64K", "payload=host");
    assertThat(gpu).isLessThan(6.11);
    assertThat(host).isGreaterThan(2 * gpu);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "latency | qps=2 | latency on 2 queue pairs",
        "latency | relaxed=true | latency with relaxed ordering",
        "latency | offset=4 | latency at offset 4",
        "goodput | slots=8 | slots is 8",
        "goodput | engines=2 | engines is 2",
        "goodput | ranks=4 | ranks is 4",
        "victim | size=64 | no kernel of this point measures victim",
      })
  void what_would_mean_nothing_is_refused(String metric, String setting, String problem)
      throws Exception {
    assertThat(bench.runtime().check(point(metric, setting)))
        .extracting(Problem::what)
        .anySatisfy(what -> assertThat(what).contains(problem));
  }

  @ParameterizedTest
  @CsvSource({"pull,64K", "push.inline,2K"})
  void a_warp_sends_a_message_in_a_piece_a_lane(String path, String size) throws Exception {
    Point point = point("latency, goodput, fences", "path=" + path, "size=" + size, "scope=warp");
    PointResult result = bench.run(point);
    assertThat(result.verifiedBytes()).isEqualTo(3 * point.whole("size"));
    assertThat(bench.runtime().predict(point).terms()).isEmpty();
    // One doorbell for 32 WQEs: as many fences as one thread needs for its own.
    PointResult alone = bench.run(point("goodput, fences", "path=" + path, "size=64"));
    assertThat(result.counters().get("fences")).isEqualTo(alone.counters().get("fences"));
  }

  @Test
  void a_warp_carries_a_long_inline_message_that_no_thread_can() throws Exception {
    assertThat(bench.runtime().check(point("goodput", "path=push.inline", "size=4K"))).isNotEmpty();
    assertThat(
            bench
                .run(point("goodput", "path=push.inline", "size=4K", "scope=warp"))
                .verifiedBytes())
        .isEqualTo(4096);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "path=push.memic | size=4K | scope is warp on path push.memic",
        "path=pull.bf | size=4K | scope is warp on path pull.bf",
        "path=proxy | size=4K | scope is warp on path proxy",
        "depth=64 | size=4K | scope is warp with a send ring of 64 blocks",
        "path=pull | size=64 | scope is warp with 64 bytes",
        "size=4K | threads=64 | scope is warp with 64 threads",
      })
  void what_a_warp_cannot_do_together_is_refused(String one, String other, String problem)
      throws Exception {
    assertThat(bench.runtime().check(point("goodput", one, other, "scope=warp")))
        .extracting(Problem::what)
        .containsExactly(problem);
  }

  @Test
  void chunks_that_do_not_fit_the_staging_area_are_refused() throws Exception {
    assertThat(bench.runtime().check(point("goodput", "path=push.memic", "qps=8", "size=64")))
        .isEmpty();
    assertThat(bench.runtime().check(point("goodput", "path=push.memic", "qps=8", "size=1M")))
        .extracting(Problem::what)
        .containsExactly("chunks of 65536 bytes for 8 queue pairs");
  }

  @Test
  void a_variant_changes_one_parameter_and_says_so_among_the_constants() throws Exception {
    double whole = goodput("path=pull.bf", "size=256K");
    double quarter = goodput("path=pull.bf", "size=256K", "variant=tags32");
    assertThat(quarter / whole).isCloseTo(0.27, within(0.05));
    assertThat(bench.runtime().constants(List.of(point("goodput", "variant=tags32"))))
        .anySatisfy(
            constant -> {
              assertThat(constant.name()).isEqualTo("same-switch+tags32.variant");
              assertThat(constant.value()).isEqualTo(32);
            });
  }

  @Test
  void constants_keep_their_units_origins_and_sources() throws Exception {
    ModelConstant load =
        bench.runtime().constants(List.of(point("goodput", "size=64"))).stream()
            .filter(constant -> constant.name().equals("same-switch.gpu0.load_ns"))
            .findFirst()
            .orElseThrow();
    assertThat(load.origin()).isEqualTo(ModelConstant.Origin.MEASURED_HERE);
    assertThat(load.unit()).isEqualTo("ns");
    assertThat(load.source()).contains("H200");
  }

  @Test
  void every_rank_gets_every_other_ranks_messages() throws Exception {
    PointResult result =
        bench.run(point("dispatch, goodput", "ranks=4", "messages=4", "size=256", "path=pull"));
    assertThat(result.verifiedBytes()).isEqualTo(4 * 3 * 4 * 256);
    double nanos = result.samples().getFirst().value(0);
    assertThat(result.samples().getLast().value(0))
        .isCloseTo(4 * 3 * 4 * 256 / nanos, within(1e-9));
    assertThat(bench.runtime().check(point("dispatch", "ranks=4", "path=staged"))).isNotEmpty();
  }
}
